// The verdict on every HTTP status, and on an answer without a status (contract: Delivery).

import Domain
import Formats
import Partners
import Testing

private let now = Timestamp(unixSeconds: 1_800_000_000)
private let destination = PurchaselyDestination(PurchaselySettings(apiKey: "k", userAgent: "receiptd/1"))

private func verdict(
  _ status: Int?, retryAfter: String? = nil, body: [UInt8] = [], failure: DeliveryAnswer.Failure? = nil
) -> Verdict {
  destination.verdict(
    on: DeliveryAnswer(status: status, retryAfter: retryAfter, body: body, failure: failure), now: now)
}

@Suite("Verdicts of answers")
struct VerdictTests {
  @Test func `Every status from 100 to 599 has the verdict of the contract`() {
    for status in 100...599 {
      let expected: Verdict =
        switch status {
        case 200..<300: .delivered(importID: nil)
        case 429: .coolDown(.status(429), for: .minutes(10))
        case 300..<400, 401, 402, 403, 407: .misconfigured(.status(status))
        case 408, 409, 425, 500..<600: .retry(.status(status), retryAfter: nil)
        case 400..<500: .refused(.status(status))
        default: .retry(.status(status), retryAfter: nil)
        }
      #expect(verdict(status) == expected)
    }
  }

  @Test(arguments: [Int.min, -1, 0, 99, 600, 999, Int.max])
  func `A number that is not a status of HTTP is retried`(status: Int) {
    #expect(verdict(status) == .retry(.status(status), retryAfter: nil))
  }

  @Test func `A transfer without an answer is retried, unless the configuration is wrong`() {
    #expect(verdict(nil) == .retry(Reason("no_answer"), retryAfter: nil))
    let timeout = verdict(nil, failure: .transient("timeout"))
    #expect(timeout == .retry(Reason("timeout"), retryAfter: nil))
    #expect(verdict(nil, failure: .misconfigured("certificate")) == .misconfigured(Reason("certificate")))
  }

  @Test func `A status counts even when the rest of the answer is missing (R3)`() {
    let failure = DeliveryAnswer.Failure.transient("partial")
    #expect(verdict(200, failure: failure) == .delivered(importID: nil))
    #expect(verdict(422, failure: failure) == .refused(.status(422)))
    #expect(verdict(403, failure: failure) == .misconfigured(.status(403)))
    #expect(verdict(201, failure: .misconfigured("certificate")) == .delivered(importID: nil))
  }

  @Test func `The import id is kept when the answer has one`() {
    let body = Array(#"{"id":"00001111-2222-3333-4444-555566667777","more":[1]}"#.utf8)
    #expect(verdict(200, body: body) == .delivered(importID: "00001111-2222-3333-4444-555566667777"))
    #expect(verdict(202, body: body) == .delivered(importID: "00001111-2222-3333-4444-555566667777"))
  }

  @Test func `A 2xx with another body is delivered all the same, without an import id (R3)`() {
    let texts = [
      "", "{", "null", "[]", "OK", "{}", #"{"id":null}"#, #"{"id":7}"#, #"{"id":""}"#, #"{"ID":"x"}"#,
      #"{"id":"a\nb"}"#,
      #"{"id":"\#(String(repeating: "x", count: 256))"}"#, #"{"id":["x"]}"#, "login, please",
    ]
    for text in texts {
      #expect(verdict(200, body: Array(text.utf8)) == .delivered(importID: nil), "\(text.prefix(20))")
    }
    #expect(verdict(200, body: [0xFF, 0xFE, 0x00]) == .delivered(importID: nil))
    #expect(
      verdict(200, body: [UInt8](repeating: UInt8(ascii: "["), count: 1 << 20)) == .delivered(importID: nil))
  }

  @Test func `Retry-After counts only for verdicts that are retried`() {
    for status in [408, 409, 425, 500, 503, 599] {
      #expect(verdict(status, retryAfter: "7") == .retry(.status(status), retryAfter: .seconds(7)))
    }
    #expect(verdict(429, retryAfter: "7") == .coolDown(.status(429), for: .seconds(7)))
    #expect(verdict(301, retryAfter: "7") == .misconfigured(.status(301)))
    #expect(verdict(403, retryAfter: "7") == .misconfigured(.status(403)))
    #expect(verdict(422, retryAfter: "7") == .refused(.status(422)))
    #expect(verdict(200, retryAfter: "7") == .delivered(importID: nil))
    let failure = verdict(nil, retryAfter: "7", failure: .transient("reset"))
    #expect(failure == .retry(Reason("reset"), retryAfter: nil))
  }
}

/// The wait after a 503 and a 429 with this header; nil where the header counts as absent.
private struct Row: Sendable, CustomTestStringConvertible {
  var text: String
  var wait: Duration?

  init(_ text: String, _ milliseconds: Int64?) {
    self.text = text
    wait = milliseconds.map { .milliseconds($0) }
  }

  var testDescription: String { text }
}

private let day: Int64 = 86_400_000

// `now` is Friday, 15 January 2027, 08:00:00 GMT.
private let rows: [Row] = [
  Row("0", 0), Row("1", 1000), Row("120", 120_000), Row("007", 7000), Row("86400", day), Row("86401", day),
  Row("9223372036854775807", day), Row("9223372036854775", day), Row(String(repeating: "9", count: 400), day),
  Row(" 5 ", 5000), Row("\t5", 5000),

  Row("-1", nil), Row("+5", nil), Row("5s", nil), Row("5.5", nil), Row("1e3", nil), Row("0x10", nil),
  Row("", nil),
  Row(" ", nil), Row("5, 6", nil), Row("soon", nil), Row("٥", nil), Row("5\0", nil), Row("5\n", nil),

  // IMF-fixdate, RFC 850 and asctime.
  Row("Fri, 15 Jan 2027 08:00:30 GMT", 30_000), Row("Friday, 15-Jan-27 08:00:30 GMT", 30_000),
  Row("Fri Jan 15 08:00:30 2027", 30_000), Row("Sat Jan  2 08:00:30 2027", 0),
  Row("Sat, 16 Jan 2027 08:00:00 GMT", day), Row("Sat, 16 Jan 2027 08:00:01 GMT", day),
  Row("Fri, 31 Dec 9999 23:59:60 GMT", day), Row(" Fri, 15 Jan 2027 08:00:30 GMT ", 30_000),

  // A time in the past means no wait.
  Row("Fri, 15 Jan 2027 07:59:59 GMT", 0), Row("Sun, 06 Nov 1994 08:49:37 GMT", 0),
  Row("Sunday, 06-Nov-94 08:49:37 GMT", 0), Row("Sun Nov  6 08:49:37 1994", 0),
  Row("Thu, 01 Jan 0000 00:00:00 GMT", 0),
  // A two-digit year that appears to be more than 50 years in the future is in the past.
  Row("Friday, 15-Jan-77 08:00:30 GMT", day), Row("Friday, 15-Jan-78 08:00:30 GMT", 0),

  Row("Fri, 15 Jan 2027 08:00:30", nil), Row("Fri, 15 Jan 2027 08:00:30 UTC", nil),
  Row("Fri, 15 Jan 2027 08:00:30 +0100", nil), Row("Fri 15 Jan 2027 08:00:30 GMT", nil),
  Row("Fri, 32 Jan 2027 08:00:30 GMT", nil), Row("Fri, 00 Jan 2027 08:00:30 GMT", nil),
  Row("Fri, 15 Foo 2027 08:00:30 GMT", nil), Row("Fri, 15 jan 2027 08:00:30 GMT", nil),
  Row("Fri, 15 Jan 27 08:00:30 GMT", nil), Row("Fri, 15 Jan 20270 08:00:30 GMT", nil),
  Row("Fri, 15 Jan 2027 24:00:30 GMT", nil), Row("Fri, 15 Jan 2027 08:60:30 GMT", nil),
  Row("Fri, 15 Jan 2027 08:00:61 GMT", nil), Row("Fri, 15 Jan 2027 08:00 GMT", nil),
  Row("Fri, 15 Jan 2027 8:00:30 GMT", nil), Row("Friday, 15-Jan-2027 08:00:30 GMT", nil),
  Row("2027-01-15T08:00:30Z", nil), Row("1800000030000000000000x", nil),
]

@Suite("Retry-After")
struct RetryAfterTests {
  @Test(
    "Seconds and the three forms of dates are read; other values count as absent", arguments: rows)
  private func table(row: Row) {
    #expect(verdict(503, retryAfter: row.text) == .retry(.status(503), retryAfter: row.wait))
    #expect(
      verdict(429, retryAfter: row.text)
        == .coolDown(.status(429), for: row.wait ?? .seconds(600)))
  }
}
