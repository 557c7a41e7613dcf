// The response of a destination: status line, header fields, body and `Retry-After`.

import Formats
import Domain
import Platform

@testable import HTTPClient
@testable import Partners

extension FuzzTarget {
  private static let now = Timestamp(unixMilliseconds: 1_795_168_800_123)

  static let retryAfter = FuzzTarget("retry-after", bytesMax: 256) { bytes in
    if let wait = RetryAfter.duration(String(decoding: bytes, as: UTF8.self), now: now) {
      try hold((Duration.zero...Delivery.retryAfterMax).contains(wait), "a wait of \(wait)")
    }
    // A time of the years 1970 to 9999 in every date format.
    let seconds = Int64(leadingNumber(bytes).magnitude % 253_402_300_800)
    let text = RFC3339.string(unixMilliseconds: seconds * 1000)
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let parts = text.split { !$0.isNumber }.map(String.init)
    let (year, month, day) = (parts[0], months[(Int(parts[1]) ?? 1) - 1], parts[2])
    let time = parts[3...5].joined(separator: ":")
    let expected = Timestamp(unixSeconds: seconds)
    for form in ["Sun, \(day) \(month) \(year) \(time) GMT", "Sun \(month) \(day) \(time) \(year)"] {
      try hold(HTTPDate.timestamp(form, now: now) == expected, "\(form) is read as another time")
    }
    // A two-digit year is unambiguous up to fifty years ahead.
    if (1980...2075).contains(Int(year) ?? 0) {
      let form = "Sunday, \(day)-\(month)-\(year.suffix(2)) \(time) GMT"
      try hold(HTTPDate.timestamp(form, now: now) == expected, "\(form) is read as another time")
    }
  }

  /// Header lines up to a NUL, as libcurl passes them, then the body in pieces.
  static let answer = FuzzTarget("answer", bytesMax: 80_000) { bytes in
    let (head, body) = halves(bytes, at: 0)
    var collector = AnswerCollector()
    var goesOn = true
    var rest = head[...]
    while goesOn, !rest.isEmpty {
      let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.index(before: rest.endIndex)
      goesOn = collector.collectHeaderLine(Array(rest[...end]))
      rest = rest[(end + 1)...]
    }
    let pieceBytes = 1 + Int(head.first ?? 0) * 64
    var start = 0
    while goesOn, start < body.count {
      goesOn = collector.collectBody(body[start..<min(start + pieceBytes, body.count)])
      start += pieceBytes
    }
    try hold(goesOn == (collector.refusal == nil), "it wants no more, and does not say why")
    try checkLimits(collector)
    if collector.status != nil, goesOn { try hold(collector.body == body, "a part of the body is missing") }
    let answer = DeliveryAnswer(
      status: collector.status,
      retryAfter: collector.headers.first { $0.name.lowercased() == "retry-after" }?.value,
      contentType: collector.headers.first { $0.name.lowercased() == "content-type" }?.value,
      body: collector.body, failure: collector.refusal.map { .transient($0.rawValue) })
    try checkVerdict(on: answer)
  }

  private static func checkLimits(_ collector: AnswerCollector) throws {
    if let status = collector.status { try hold((200...599).contains(status), "a status of \(status)") }
    try hold(collector.headers.count <= TransferLimits.headersMax, "\(collector.headers.count) fields")
    try hold(collector.body.count <= TransferLimits.bodyBytesMax, "\(collector.body.count) bytes of body")
    for field in collector.headers {
      try hold(!field.name.isEmpty && field.name.utf8.allSatisfy { $0 > 0x20 }, "a field without a name")
      try hold(!field.value.utf8.contains(UInt8(ascii: "\n")), "a field of two lines")
    }
  }

  private static func checkVerdict(on answer: DeliveryAnswer) throws {
    let destination = PurchaselyDestination(PurchaselySettings(apiKey: "key", userAgent: "fuzz"))
    let limits = Duration.zero...Delivery.retryAfterMax
    switch destination.verdict(on: answer, now: now) {
    case .delivered(let importID):
      try hold(answer.status.map { (200...299).contains($0) } ?? false, "delivered without a 2xx (R3)")
      if let importID { try hold(UntrustedText.identifier(importID) == importID, "an id not fit for a row") }
    case .retry(_, let wait):
      if let wait { try hold(limits.contains(wait), "a wait of \(wait)") }
    case .coolDown(_, let wait): try hold(limits.contains(wait), "a rest of \(wait)")
    case .misconfigured:
      try hold(answer.status.map { (200...499).contains($0) } ?? false, "paused without an answer (R4)")
    case .refused:
      try hold(answer.status.map { (400...499).contains($0) } ?? false, "given up without an answer (R4)")
    }
  }
}
