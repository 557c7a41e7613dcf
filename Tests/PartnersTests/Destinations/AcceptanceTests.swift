// Answers with a success status that accept nothing (contract: Delivery).

import Domain
import Partners
import Testing

private let destination = PurchaselyDestination(PurchaselySettings(apiKey: "k", userAgent: "receiptd/1"))

private func verdict(
  _ body: [UInt8], type: String? = nil, status: Int = 200, failure: DeliveryAnswer.Failure? = nil
) -> Verdict {
  destination.verdict(
    on: DeliveryAnswer(status: status, contentType: type, body: body, failure: failure),
    now: Timestamp(unixSeconds: 1_800_000_000))
}

private func verdict(_ text: String, type: String? = nil, status: Int = 200) -> Verdict {
  verdict(Array(text.utf8), type: type, status: status)
}

@Suite("A success status that accepts nothing")
struct AcceptanceTests {
  private static let page = Verdict.misconfigured(.htmlAnswer)
  private static let errors = Verdict.misconfigured(.errorAnswer)
  private static let withoutID = Verdict.delivered(importID: nil)
  private static let accepted = Verdict.delivered(importID: "imp")

  @Test func `A login page is a wrong configuration, in any spelling of its media type`() {
    for type in ["text/html", "TEXT/HTML; charset=utf-8", " text/html ;q=1", "text/html,text/html"] {
      #expect(verdict("<form>", type: type) == Self.page, "\(type)")
      #expect(verdict("", type: type, status: 204) == Self.page, "\(type)")
    }
    #expect(verdict("<html xmlns=x>", type: "application/xhtml+xml") == Self.page)
    #expect(verdict(#"{"id":"imp"}"#, type: "text/html") == Self.page, "the contract believes this type")
    #expect(verdict("text", type: "text/htmlx") == Self.withoutID)
    #expect(verdict("text", type: "text/plain; a=text/html") == Self.withoutID)
  }

  @Test func `A page with a wrong or missing media type is recognised by its beginning`() {
    for type in [nil, "", "application/json", "text/plain"] as [String?] {
      for text in ["<!DOCTYPE html><p>", "\r\n\t <!doctype HTML>", "<HTML lang=en>", "\u{FEFF}<html>"] {
        #expect(verdict(text, type: type) == Self.page, "\(text)")
      }
    }
    #expect(verdict("<receipt/>", type: "application/xml") == Self.withoutID)
  }

  @Test func `Errors without an id are a wrong configuration, with any media type`() {
    let texts = [
      #"{"errors":["unknown api_key"]}"#, #"{"errors":"no"}"#, #"{"errors":{"key":["unknown"]}}"#,
      #"{"errors":[null]}"#, #"{"errors":true}"#, #"{"errors":1}"#, #"{"id":null,"errors":["x"]}"#,
      #"{"id":"","errors":["x"]}"#, #"{"errors":["x"],"id":7}"#, #"{"errors":["x"],"id":["imp"]}"#,
      "\u{FEFF}" + #" {"errors":["x"]}"#,
    ]
    for text in texts {
      for type in ["application/json", "application/problem+json; charset=utf-8", "text/plain", nil] {
        #expect(verdict(text, type: type) == Self.errors, "\(text)")
      }
      #expect(verdict(text, status: 202) == Self.errors, "\(text)")
    }
  }

  @Test func `An id is an acceptance, with or without errors; so is an answer with empty errors`() {
    for text in [
      #"{"id":"imp"}"#, #"{"errors":["deprecated"],"id":"imp"}"#, #"{"id":"imp","errors":null}"#,
      "\u{FEFF}" + #"{"id":"imp"}"#,
    ] {
      #expect(verdict(text, type: "application/json") == Self.accepted, "\(text)")
      #expect(verdict(text, type: nil) == Self.accepted, "\(text)")
    }
    for text in [
      #"{"errors":null}"#, #"{"errors":[]}"#, #"{"errors":[ ]}"#, #"{"errors":{}}"#, #"{"errors":""}"#,
      #"{"errors":false}"#, #"[{"errors":["x"]}]"#, #"{"data":{"errors":["x"]}}"#, #""errors""#,
    ] {
      #expect(verdict(text, type: "application/json") == Self.withoutID, "\(text)")
    }
  }

  @Test func `With a truncated body the status line decides, unless the type is HTML (R3)`() {
    let lost = DeliveryAnswer.Failure.transient("connection_lost")
    for text in [#"{"errors":["unkn"#, #"{"id":"im"#, "{", ""] {
      let answer = verdict(Array(text.utf8), type: "application/json", failure: lost)
      #expect(answer == Self.withoutID, "\(text)")
    }
    #expect(verdict(Array("<".utf8), type: "text/html", failure: lost) == Self.page)
    #expect(verdict(Array(#"{"errors":["x"]}"#.utf8), failure: lost) == Self.errors)
  }

  @Test func `A compressed answer with a success status accepts nothing, because it may hide errors`() {
    var answer = DeliveryAnswer(status: 200, contentType: "application/json", body: [0x1F, 0x8B])
    answer.isCoded = true
    let now = Timestamp(unixSeconds: 1_800_000_000)
    #expect(destination.verdict(on: answer, now: now) == .misconfigured(.codedAnswer))
    answer.status = 422
    #expect(destination.verdict(on: answer, now: now) == .refused(.status(422)), "a status is readable")
  }

  @Test func `Other statuses keep their verdict with any body`() {
    #expect(verdict(#"{"errors":["x"]}"#, status: 422) == .refused(.status(422)))
    #expect(verdict("<html>", type: "text/html", status: 502) == .retry(.status(502), retryAfter: nil))
    #expect(verdict(#"{"id":"imp"}"#, status: 403) == .misconfigured(.status(403)))
  }
}
