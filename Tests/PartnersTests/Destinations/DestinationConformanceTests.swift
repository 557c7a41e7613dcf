// The requirements for every destination: `ReceiptDestination` as executable tests.

import Domain
import Formats
import Partners
import TestSupport
import Testing

@testable import Config

/// One registered destination, with secrets or without.
private struct Fixture: Sendable, CustomTestStringConvertible {
  var kind: DestinationKind

  var testDescription: String { kind.name.text }

  func make(revealsSecrets: Bool = true) throws -> any ReceiptDestination {
    let app = AppConfiguration(
      slug: "ios", client: .open, stripe: StripeSection(webhookSecrets: [Secret("whsec_1")]),
      purchasely: .init(url: "https://destination.example/receipts", apiKey: Secret("key-conformance")),
      webhook: .init(
        url: "https://merchant.example/purchases",
        secrets: [Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]))
    return try #require(try kind.make(app, revealsSecrets: revealsSecrets, userAgent: "test/1"))
  }

  static let all = DestinationRegistry.standard.kinds.map(Fixture.init)
}

private let now = Timestamp(unixSeconds: 1_800_000_000)
private let bare = ReceiptContent(
  userID: "u\"1", key: PurchaseKey(type: .subscription, id: "sub_1"), priceID: "price_1", context: nil)
private let whole = ReceiptContent(
  userID: "u\"1", key: PurchaseKey(type: .subscription, id: "sub_1"), priceID: "price_1", context: "e30=")

@Suite("The conformance of destinations")
struct DestinationConformanceTests {
  @Test func `Every processor's default is a registered destination, and no two have one name`() {
    let names = DestinationRegistry.standard.kinds.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(names.contains(StripeSection(webhookSecrets: []).deliverTo.first))
  }

  @Test("It sends to one https address, and its headers are complete lines", arguments: Fixture.all)
  fileprivate func address(_ fixture: Fixture) throws {
    let destination = try fixture.make()
    #expect(destination.url.hasPrefix("https://"))
    #expect(!destination.url.contains("key-conformance"))
    let headers = destination.headers(
      for: OutgoingReceipt(id: "rcp_1", processor: "stripe", body: Array("{}".utf8), sentAt: now))
    #expect(!headers.isEmpty)
    for (name, value) in headers {
      #expect(!name.isEmpty)
      #expect((name + value).utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, "\(name)")
    }
    #expect(type(of: destination).name == fixture.kind.name)
  }

  @Test("An app without its section does not have it", arguments: Fixture.all)
  fileprivate func absent(_ fixture: Fixture) throws {
    let app = AppConfiguration(
      slug: "ios", client: .open, stripe: StripeSection(webhookSecrets: [Secret("whsec_1")]), purchasely: nil)
    #expect(!fixture.kind.isConfigured(app))
    #expect(try fixture.kind.make(app, revealsSecrets: false, userAgent: "test/1") == nil)
    #expect(fixture.kind.advice(app) == nil)
  }

  @Test(
    "The bytes are JSON, always the same, and name user, object, price and context", arguments: Fixture.all)
  fileprivate func bytes(_ fixture: Fixture) throws {
    let destination = try fixture.make()
    for content in [bare, whole] {
      let body = destination.body(for: content)
      #expect(body == destination.body(for: content))
      #expect(body == (try fixture.make(revealsSecrets: false)).body(for: content), "it holds no secret")
      let text = try JSONValue(parsing: body).prettyText
      for part in ["sub_1", "price_1", #"u\"1"#] { #expect(text.contains(part), "\(part)") }
      #expect(text.contains("e30=") == (content.context != nil))
    }
  }

  @Test("Every answer has a verdict: accepted, retry, or refused", arguments: Fixture.all)
  fileprivate func verdicts(_ fixture: Fixture) throws {
    let destination = try fixture.make()
    func verdict(_ status: Int?, _ body: String = "", _ failure: DeliveryAnswer.Failure? = nil) -> Verdict {
      let answer = DeliveryAnswer(status: status, body: Array(body.utf8), failure: failure)
      return destination.verdict(on: answer, now: now)
    }
    for status in 100...599 {
      let label = verdict(status).label
      #expect((label == "delivered") == (200...299).contains(status), "\(status): \(label)")
      #expect(verdict(status) == verdict(status))
    }
    for status in [408, 429, 500, 502, 503, 504] {
      #expect(["retry", "cool_down"].contains(verdict(status).label), "\(status)")
    }
    #expect(verdict(401).label == "misconfigured")
    #expect(verdict(nil, "", .transient("timeout")).label == "retry")
    #expect(verdict(nil, "", .misconfigured("certificate")).label == "misconfigured")
  }
}
