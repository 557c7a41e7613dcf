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

  @Test(arguments: try KitTables.links().links)
  func `A claim link is read as all kits read it`(_ row: KitTables.Link) throws {
    let link = try Self.link(row.url)
    #expect(link?.token == row.claim)
    guard let link else { return }
    #expect(link.app == "shop")
    #expect(try Self.link(#require(link.path.url(host: "pay.example.com")).absoluteString) == link)
  }

  @Test func `A claim posts the token for the signed-in user, with the app's credential`() async throws {
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
    "Each answer of the relay has its result; what does not come from it, and a refused key, decides nothing",
    arguments: try KitTables.relay().claims)
  func results(_ row: KitTables.Claim) async throws {
    let bed = try OutboxBed([row.answer.step])
    let link = try #require(try Self.link())
    bed.outbox.keep(link)
    do throws(RelayError) {
      let result = try await bed.outbox.claim(link, userID: "jdo-1")
      #expect(result.rawValue == row.result)
      #expect(result.isFinal == (result != .retryLater))
      #expect(bed.outbox.keptClaim == (result.isFinal ? nil : link))
    } catch {
      #expect(row.result == nil, "\(error)")
      #expect(bed.outbox.keptClaim == link)
    }
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

  @Test func `A link that cannot be stored is kept while the app runs`() throws {
    let relay = try Example.client(ScriptedTransport())
    let outbox = CheckoutOutbox(relay: relay, folder: URL(fileURLWithPath: "/dev/null/no-folder"))
    let link = try #require(try Self.link())
    outbox.keep(link)
    #expect(outbox.keptClaim == link)
  }
}
