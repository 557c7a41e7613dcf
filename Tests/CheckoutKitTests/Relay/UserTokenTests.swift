// Tokens of the signed-in user: when the provider is called, and what happens when a token is refused.

import CheckoutKit
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct UserTokenTests {
  /// Tokens `t.1`, `t.2` and so on.
  private static func tokens() -> RelayClient.Credential {
    let count = Guarded(0)
    return .token {
      count.withLock { count in
        count += 1
        return "t.\(count)"
      }
    }
  }

  @Test("The app is asked for a token before each attempt; without a token the post fails")
  func usesTokens() async throws {
    let transport = ScriptedTransport(.answer(503), .answer(201, Example.posted()))
    try await Example.client(transport, credential: Self.tokens()).post()
    let sent = transport.sent
    #expect(sent.map { $0.value(forHTTPHeaderField: "Authorization") } == ["Bearer t.1", "Bearer t.2"])
    #expect(sent.allSatisfy { $0.value(forHTTPHeaderField: "X-API-KEY") == nil })

    struct SignedOut: Error {}
    let signedOut = try Example.client(ScriptedTransport(), credential: .token { throw SignedOut() })
    let error = await #expect(throws: RelayError.self) { try await signedOut.post("u") }
    guard case .noToken = error else { return unexpected(error) }
    let isOnline = Guarded(false)
    let offline = try Example.client(
      ScriptedTransport(.answer(201, Example.posted())),
      credential: .token {
        guard
          isOnline.withLock({ isOnline in
            defer { isOnline = true }
            return isOnline
          })
        else { throw URLError(.notConnectedToInternet) }
        return "t"
      })
    #expect(try await offline.post().contextID == Example.id)
  }

  @Test func `After a 401 a token is renewed once, under any policy; a key is not`() async throws {
    func sent(
      _ credential: RelayClient.Credential, _ retries: RetryPolicy, _ steps: ScriptedTransport.Step...,
      ending: RelayError? = nil
    ) async throws -> [String?] {
      let clock = InstantClock()
      let transport = ScriptedTransport(steps)
      let client = try Example.client(transport, credential: credential, retries: retries, clock: clock)
      if let ending {
        await #expect(throws: ending) { try await client.post() }
      } else {
        try await client.post()
      }
      #expect(Set(transport.sent.map(\.httpBody)).count == 1)
      // Pauses are only for a busy relay or a failed network.
      #expect(clock.pauses.allSatisfy { $0 == 0.5 })
      return transport.sent.map { $0.value(forHTTPHeaderField: "Authorization") }
    }
    let success = ScriptedTransport.Step.answer(201, Example.posted())
    #expect(try await sent(Self.tokens(), .none, .answer(401), success) == ["Bearer t.1", "Bearer t.2"])
    let refused = RelayError.http(HTTPFailure(status: 401, body: "no"))
    #expect(
      try await sent(
        Self.tokens(), RetryPolicy(jitter: 0), .answer(401), .answer(401, "no"), success, ending: refused)
        == ["Bearer t.1", "Bearer t.2"])
    // Once for each request, not for each attempt.
    #expect(
      try await sent(
        Self.tokens(), RetryPolicy(jitter: 0), .answer(401), .answer(503), .answer(401, "no"), success,
        ending: refused) == ["Bearer t.1", "Bearer t.2", "Bearer t.3"])
    #expect(
      try await sent(
        RelayClient.Credential.clientKey("k"), .none, .answer(401, "no"), success, ending: refused)
        == [nil])
    #expect(
      try await sent(
        Self.tokens(), .none, .answer(403, "no"), success,
        ending: .http(HTTPFailure(status: 403, body: "no"))) == ["Bearer t.1"])
  }
}
