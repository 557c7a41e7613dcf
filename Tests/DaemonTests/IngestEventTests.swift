// Commands from parsed events, and HTTP answers from libcurl results.

import Domain
import HTTPClient
import Partners
import Store
import TestSupport
import Testing

@testable import Daemon
@testable import Service

@Suite("Commands made from events") struct IngestEventTests {
  private static func command(_ reading: EventReading, body: String = "abc") -> IngestEvent {
    IngestEvent(reading, app: "shop", processor: "stripe", body: Array(body.utf8))
  }

  private static func report(_ blob: String?) -> PurchaseReport {
    PurchaseReport(
      key: PurchaseKey(type: .subscription, id: "sub_1"), contextID: "ctx_1",
      context: blob.map { ContextBlob(text: $0, priceID: nil) }, metadataUser: "u",
      happenedAt: Timestamp(unixMilliseconds: 0))
  }

  private static func context(_ blob: String?) -> ContextBlob? {
    let content = EventReading.Content.purchase(report(blob), isWorthKeeping: true)
    let command = command(EventReading(id: "evt_1", type: "t", content: content))
    guard case .report(let report, keep: true) = command.content else { return nil }
    return report.context
  }

  @Test func `It keeps its own id and the raw bytes`() {
    let command = Self.command(EventReading(id: "evt_1", type: "invoice.paid", content: .nothing(.ignored)))
    #expect(command.eventID == "evt_1")
    #expect(command.type == "invoice.paid")
    #expect(command.processor == "stripe")
    #expect(command.body == StoredBody(Array("abc".utf8)))
    #expect(command.app == "shop")
    guard case .nothing(.ignored) = command.content else {
      Issue.record("it says something")
      return
    }
  }

  @Test func `Without an id it is recognised by its bytes, so that it is stored once (R2)`() {
    let reading = EventReading(id: nil, type: "", content: .nothing(.unparsed))
    #expect(
      Self.command(reading).eventID
        == "sha256_ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(Self.command(reading).eventID == Self.command(reading).eventID)
    #expect(Self.command(reading, body: "abd").eventID != Self.command(reading).eventID)
  }

  @Test func `A valid blob in the metadata counts, with the price that it names`() {
    let blob = "eyJzdHJpcGVfcHJpY2VfaWQiOiJwcmljZV8xIn0="
    #expect(Self.context(blob) == ContextBlob(text: blob, priceID: "price_1"))
    #expect(Self.context("YQ") == ContextBlob(text: "YQ", priceID: nil))
  }

  @Test(
    "A value that is not base64 belongs to the merchant, and is ignored",
    arguments: ["", "not base64!", "a", "YQ===", "ctx_1", String(repeating: "A", count: 60_000)])
  func noBlob(text: String) { #expect(Self.context(text) == nil) }

  @Test func `The other facts of the report do not change`() {
    for blob in [nil, "not base64!"] {
      let content = EventReading.Content.purchase(Self.report(blob), isWorthKeeping: false)
      let command = Self.command(EventReading(id: "evt_1", type: "t", content: content))
      guard case .report(let report, keep: false) = command.content else {
        Issue.record("no report that is not worth keeping")
        return
      }
      #expect(report == Self.report(nil))
    }
  }
}

@Suite("Results of transfers") struct DeliveryAnswerTests {
  @Test(arguments: TransferFailure.allCases)
  func `Only faults that the operator can fix count as a wrong configuration`(failure: TransferFailure) {
    let result = TransferResult(
      status: nil, failure: failure, requestWasSent: true, duration: .milliseconds(1))
    let mendable: Set<TransferFailure> = [
      .certificateRejected, .certificateAuthorityUnreadable, .refusedURL, .refusedHeader,
    ]
    let expected: DeliveryAnswer.Failure =
      mendable.contains(failure) ? .misconfigured(failure.rawValue) : .transient(failure.rawValue)
    #expect(DeliveryAnswer(result).failure == expected)
  }

  @Test func `Status, Retry-After and body are passed on unchanged`() {
    let result = TransferResult(
      status: 429, headers: [TransferHeader("retry-AFTER", " 7"), TransferHeader("Retry-After", "9")],
      body: [1, 2], failure: .connectionLost, requestWasSent: true, duration: .milliseconds(1))
    let answer = DeliveryAnswer(result)
    #expect(answer.status == 429)
    #expect(answer.retryAfter == " 7")
    #expect(answer.body == [1, 2])
    #expect(answer.failure == .transient("connection_lost"))
  }
}
