// A purchase without a user finds its account: the link, what the relay answers, and what the app keeps.

import Foundation
import Testing

@testable import CheckoutKit

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Claims") struct ClaimLinkTests {
  static let token = "clm_01HXZ4T9V8KQ2M3N4P5R6S7T8V"
  static let address = "https://pay.example.com/v1/ios/claim/\(token)"

  static func link(_ text: String = address) throws -> ClaimLink? {
    ClaimLink.read(try url(text), hosts: ["pay.example.com"], schemes: ["exampleapp"])
  }

  /// The relay's answer to a claim that it accepts.
  static func accepted(replay: Bool = false) -> ScriptedTransport.Step {
    .answer(replay ? 200 : 201, #"{"status_url":"/v1/ios/receipts/1"\#(replay ? #","replay":true"# : "")}"#)
  }

  @Test(
    "A claim link is read as a universal link and under the app's scheme",
    arguments: [
      address, "exampleapp://pay.example.com/v1/ios/claim/\(token)",
      "ExampleApp://PAY.example.com/v1/ios/claim/\(token)?utm=x#y", "\(address)/",
    ])
  func recognises(_ text: String) throws {
    let link = try #require(try Self.link(text))
    #expect(link.app == "ios")
    #expect(link.token == Self.token)
    #expect(link.path.url(host: "pay.example.com")?.absoluteString == Self.address)
  }

  @Test(
    "Any other URL is not a claim link",
    arguments: [
      "https://evil.test/v1/ios/claim/\(token)", "http://pay.example.com/v1/ios/claim/\(token)",
      "exampleapp://evil.test/v1/ios/claim/\(token)", "https://pay.example.com/v1/ios/claim",
      "https://pay.example.com/v1/ios/claim/\(token)0", "https://pay.example.com/v1/ios/claim/\(token)/x",
      "https://pay.example.com/v1/ios/claim/clm_01hxz4t9v8kq2m3n4p5r6s7t8v",
      "https://pay.example.com/v1/ios/claim/ctx_01HXZ4T9V8KQ2M3N4P5R6S7T8V",
      "https://pay.example.com/v1/IOS/claim/\(token)", "https://pay.example.com/v1/ios/return/\(token)",
      "exampleapp://ply/redeem/\(token)",
    ])
  func refuses(_ text: String) throws { #expect(try Self.link(text) == nil) }

  @Test("A claim posts the token for the signed-in user, with the app's credential")
  func posts() async throws {
    let transport = ScriptedTransport(Self.accepted())
    let relay = try Example.client(transport, retries: .none)
    let link = try #require(try Self.link())
    #expect(try await relay.claim(link, userID: "jdo/1") == .claimed)
    let sent = try #require(transport.sent.first)
    #expect(sent.httpMethod == "POST")
    #expect(sent.url?.absoluteString == "https://pay.example.com/v1/ios/users/jdo%2F1/claims")
    #expect(sent.value(forHTTPHeaderField: "X-API-KEY") == "key-1")
    #expect(sent.httpBody == Data(#"{"token":"\#(Self.token)"}"#.utf8))
  }

  @Test(
    "Each answer of the relay has its result",
    arguments: [
      (accepted(), ClaimResult.claimed), (accepted(replay: true), .replay),
      (OutboxBed.problem(409, "claimed-by-another-user"), .otherUser),
      (OutboxBed.problem(410, "claim-gone"), .expired), (OutboxBed.problem(404, "unknown-claim"), .unknown),
      (OutboxBed.problem(429, "too-many-claims"), .retryLater), (.answer(503), .retryLater),
      (.answer(502, "a proxy"), .retryLater), (ScriptedTransport.offline, .retryLater),
    ])
  func results(_ step: ScriptedTransport.Step, _ result: ClaimResult) async throws {
    let relay = try Example.client(ScriptedTransport(step), retries: .none)
    let link = try #require(try Self.link())
    #expect(try await relay.claim(link, userID: "jdo-1") == result)
    #expect(result.isFinal == (result != .retryLater))
  }

  @Test(
    "What does not come from the relay, and a refused key, decides nothing",
    arguments: [
      .answer(200, "<html>Log in to the hotel's network</html>"), .answer(404, "not found"),
      .answer(410, "gone"), .answer(409, "conflict"), OutboxBed.problem(401, "unauthorized"),
      OutboxBed.problem(404, "not-found"), OutboxBed.problem(422, "placeholder-user"),
    ] as [ScriptedTransport.Step])
  func undecided(_ step: ScriptedTransport.Step) async throws {
    let bed = try OutboxBed([step])
    let link = try #require(try Self.link())
    bed.outbox.keep(link)
    await #expect(throws: RelayError.self) { try await bed.outbox.claim(link, userID: "jdo-1") }
    #expect(bed.outbox.keptClaim == link)
  }

  @Test("The link is kept across launches until the relay has decided; the latest one counts")
  func kept() async throws {
    let bed = try OutboxBed([.answer(503), Self.accepted()])
    let earlier = try #require(
      try Self.link("https://pay.example.com/v1/ios/claim/clm_00000000000000000000000000"))
    let link = try #require(try Self.link())
    #expect(bed.outbox.keptClaim == nil)
    bed.outbox.keep(earlier)
    bed.outbox.keep(link)
    try bed.relaunch()
    #expect(bed.outbox.keptClaim == link)
    #expect(bed.outbox.pendingContextIDs.isEmpty, "a claim is no context")
    #expect(try await bed.outbox.claim(link, userID: "jdo-1") == .retryLater)
    #expect(bed.outbox.keptClaim == link)
    // The result of an earlier link leaves the newer one.
    bed.outbox.keep(earlier)
    #expect(try await bed.outbox.claim(link, userID: "jdo-1") == .claimed)
    #expect(bed.outbox.keptClaim == earlier)
    bed.outbox.discardClaim()
    try bed.relaunch()
    #expect(bed.outbox.keptClaim == nil)
  }

  @Test("A link that cannot be stored is kept while the app runs")
  func unstored() throws {
    let relay = try Example.client(ScriptedTransport())
    let outbox = CheckoutOutbox(relay: relay, folder: URL(fileURLWithPath: "/dev/null/no-folder"))
    let link = try #require(try Self.link())
    outbox.keep(link)
    #expect(outbox.keptClaim == link)
  }
}
