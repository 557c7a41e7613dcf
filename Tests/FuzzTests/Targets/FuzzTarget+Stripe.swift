// Webhooks of Stripe, genuine or forged: the signature's header, and the event.

import Cryptography
import Domain
import Formats
import Partners
import Store

@testable import Service

extension FuzzTarget {
  private static let secret = "whsec_fuzz_0123456789abcdef"
  private static let seconds: Int64 = 1_795_168_800
  private static let now = Timestamp(unixSeconds: seconds)

  private static func processor(_ secrets: [String] = [secret]) throws -> StripeProcessor {
    try StripeProcessor(StripeSettings(livemode: .any, accounts: .any), webhookSecrets: secrets)
  }

  private static func request(_ signatures: [String], _ body: [UInt8]) -> WebhookRequest {
    WebhookRequest(body: body, address: "") { $0 == "Stripe-Signature" ? signatures : [] }
  }

  /// Headers up to a NUL, one a line, then the body. `@` is replaced by the current time and `$` by its valid
  /// signature, which no mutation could guess.
  static let signature = FuzzTarget("signature", bytesMax: 10_000) { bytes in
    let (head, body) = halves(bytes, at: 0)
    let right = try code(of: body, time: Array("\(seconds)".utf8))
    let headers = head.split(separator: UInt8(ascii: "\n")).map { line in
      String(decoding: line, as: UTF8.self).replacing("@", with: "\(seconds)").replacing("$", with: right)
    }
    let verdict = try processor().authenticate(request(headers, body), now: now)
    if verdict == .genuine {
      try hold(headers.count == 1, "several headers, and accepted")
      let elements = headers[0].utf8.split(separator: UInt8(ascii: ","))
      let times = elements.filter { $0.starts(with: "t=".utf8) }.map { Array($0.dropFirst(2)) }
      try hold(times.count == 1, "\(times.count) times, and accepted")
      let expected = try "v1=" + code(of: body, time: times[0])
      try hold(elements.contains { $0.elementsEqual(expected.utf8) }, "accepted without the right signature")
      let other = try processor(["whsec_another"]).authenticate(request(headers, body), now: now)
      try hold(other == .refused(.mismatch), "accepted with another secret")
      try checkAltered(headers, body)
    }
    let plain = ["t=\(seconds),v1=\(right)"]
    try hold(
      try processor().authenticate(request(plain, body), now: now) == .genuine, "a right one is refused")
    try checkAltered(plain, body)
  }

  private static func code(of body: [UInt8], time: [UInt8]) throws -> String {
    Hex.encode(
      try HMACSHA256(key: Array(secret.utf8)).authenticationCode(for: time + [UInt8(ascii: ".")] + body))
  }

  /// R6: the signature is not valid for another body or another time.
  private static func checkAltered(_ headers: [String], _ body: [UInt8]) throws {
    let processor = try processor()
    var altered = body
    if let index = altered.indices.last { altered[index] ^= 1 } else { altered = [0] }
    try hold(
      processor.authenticate(request(headers, altered), now: now) == .refused(.mismatch),
      "an altered body is accepted")
    let later = now.advanced(by: .milliseconds(300_001))
    try hold(
      processor.authenticate(request(headers, body), now: later) == .refused(.stale),
      "an old signature is accepted")
  }

  /// Any body is read into values that can be stored, and always into the same ones.
  static let event = FuzzTarget("event", bytesMax: 16_384) { bytes in
    let processor = try processor()
    let reading = processor.read(bytes, now: now)
    try hold(processor.read(bytes, now: now) == reading, "read again it says something else")
    try checkIdentifier(reading.id?.text)
    try checkIdentifier(reading.type.isEmpty ? nil : reading.type)
    if case .purchase(let report, _) = reading.content { try checkReport(report) }
    let command = IngestEvent(reading, app: "ios", processor: StripeProcessor.name, body: bytes)
    try hold(command.body.read() == bytes, "the body is not kept as it came")
    try checkIdentifier(command.eventID.text)
    try checkNodes(bytes)
    // The order of the members and the whitespace between them do not matter.
    if let value = try? JSONValue(parsing: bytes) {
      try hold(
        processor.read(Array(value.prettyText.utf8), now: now) == reading,
        "written again it has another meaning"
      )
    }
  }

  private static func checkReport(_ report: PurchaseReport) throws {
    try checkIdentifier(report.key.id.text)
    try checkIdentifier(report.sessionID?.text)
    try checkIdentifier(report.customerID?.text)
    for name in report.names { try checkIdentifier(name.id.text) }
    for price in report.prices { try checkIdentifier(price.text) }
    try hold(report.prices.count <= 100, "\(report.prices.count) prices")
    try hold(Set(report.prices).count == report.prices.count, "a price stands twice")
    try hold(report.happenedAt <= now, "it happened in the future")
  }

  private static func checkIdentifier(_ text: String?) throws {
    guard let text else { return }
    try hold(UntrustedText.identifier(text) == text, "not fit for a row")
  }
}
