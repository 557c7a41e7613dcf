// The code of Purchasely's page for web payments, against receiptd.

import Formats
import Foundation
import Testing

@Suite(.withDaemonLog) struct WebCheckoutSampleTests {
  private static func post(_ context: WebCheckoutSample, to relay: Relay, key: String?) async throws -> Data?
  {
    let url = try #require(
      URL(string: "http://127.0.0.1:\(relay.outside.api.port)/v1/shop/users/jdo-1/contexts"))
    return try await withCheckedThrowingContinuation { waiting in
      context.send(to: url, clientKey: key) { waiting.resume(with: $0) }
    }
  }

  private static func withRelay(
    _ changes: JSONValue, _ body: (Relay, Destination) async throws -> Void
  ) async throws {
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try Relay(destination, app: changes)
    try await Relay.$logPath.withValue(relay.logPath) {
      try relay.start()
      try await body(relay, destination)
    }
  }

  private static let context = WebCheckoutSample(
    presentationId: "pres_1", placementId: "onboarding", stripePriceId: "price_1",
    stripeObjectType: "subscription", originalPlatform: "IOS")

  @Test func `PL04: The page's code posts to an open app as it is, with the user in the path`() async throws {
    try await Self.withRelay(["client": "open"]) { relay, _ in
      let answer = try #require(try await Self.post(Self.context, to: relay, key: nil))
      let posted = try JSONValue(parsing: Array(answer))
      #expect(posted["user_id"] == "jdo-1")
      #expect(posted["stripe_price_id"] == "price_1")
      let id = try #require(posted["context_id"]?.stringValue)
      #expect(try relay.state(ofContext: id) == "open")
    }
  }

  @Test func `PL05: With client keys the page's code is refused, until one line adds the key`() async throws {
    try await Self.withRelay([:]) { relay, _ in
      let refused = await #expect(throws: ServerErrorResponse.self) {
        try await Self.post(Self.context, to: relay, key: nil)
      }
      #expect(refused?.statusCode == 401)
      #expect(refused?.message.contains("urn:receiptd:problem:unauthorized") == true)
      let answer = try #require(try await Self.post(Self.context, to: relay, key: Secrets.clientKey))
      #expect(try JSONValue(parsing: Array(answer))["user_id"] == "jdo-1")
    }
  }
}
