// Random hostile input: whatever a client or Swedbank Pay sends, a request ends with an answer, every call
// goes to the configured host (`SwedbankHarness` checks each), and tokens stay hidden.

import Domain
import Formats
import Partners
import Platform
import TestSupport
import Testing

private struct HostileInput {
  var random: SeededGenerator

  private static let parts = [
    "https://", "http://", "//", "/", "\\", "@", ":", "?", "#", "%", "%2e", "%2F", "..", ".", "evil.test",
    "api.payex.example", ":443", ":8443", "user:pass@", SwedbankHarness.order, "/psp/paymentorders/",
    "09ccd29a",
    "\u{0}", "\r\n", " ", "\t", "é", "🧾", "$expand=", "&", "javascript:", "[::1]", "~", "{order}", "*",
    "9007199254740993", "\"", "'", "<", "x",
  ]

  mutating func text() -> String {
    (0..<Int.random(in: 0...6, using: &random)).map { _ in
      Self.parts.randomElement(using: &random) ?? ""
    }.joined()
  }

  private static let names = [
    "paymentOrder", "paymentorder", "id", "operations", "rel", "href", "token", "paymentToken", "tokens",
    "paid",
    "status", "payerOwnedPaymentTokens", "paymentTokens", "mobileSDK", "availableInstruments", "amount",
    "urls",
    "payeeInfo", "payer", "payerReference", "operation", "resource", "expand", "state", "comment",
    "instrument",
  ]
  private static let words: [JSONValue] = [
    "update-paymentorder-setinstrument", "delete-paymenttokens", "set-instrument", "SetInstrument", "Abort",
    "Purchase", "Deleted", "paid", "Paid", .string(SwedbankHarness.order), "SEK", .string(secretToken),
  ]
  static let secretToken = "c0ffee00-secret"

  mutating func value(depth: Int = 0) -> JSONValue {
    switch Int.random(in: 0..<(depth > 4 ? 6 : 9), using: &random) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &random))
    case 2: return .integer(Int64.random(in: .min ... .max, using: &random))
    case 3: return .number(Double.random(in: -1e300...1e300, using: &random))
    case 4: return .string(text())
    case 5: return Self.words.randomElement(using: &random) ?? .null
    case 6: return .array((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth: depth + 1) })
    default:
      return .object(
        (0..<Int.random(in: 0...5, using: &random)).map { _ in
          .init(name: Self.names.randomElement(using: &random) ?? "", value: value(depth: depth + 1))
        })
    }
  }

  /// A value with random parts replaced.
  mutating func changed(_ value: JSONValue) -> JSONValue {
    if Int.random(in: 0..<12, using: &random) == 0 { return self.value(depth: 3) }
    switch value {
    case .array(let elements): return .array(elements.map { changed($0) })
    case .object(let members):
      return .object(members.map { .init(name: $0.name, value: changed($0.value)) })
    default: return value
    }
  }

  /// Bytes with random ones removed, added or replaced.
  mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
      let index = Int.random(in: bytes.indices, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
      case 1: bytes.remove(at: index)
      case 2: bytes.removeSubrange(index...)
      default: bytes.insert(contentsOf: Array(text().utf8), at: index)
      }
    }
    return bytes
  }

  mutating func reply(_ body: JSONValue) -> BackendReply {
    let types = [
      "application/json", "application/problem+json", "application/json; charset=utf-8", "text/html", nil,
      "application/x+json", ";", "",
    ]
    switch Int.random(in: 0..<10, using: &random) {
    case 0:
      return [.unreachable, .busy, .noAnswer(isTimeout: true), .noAnswer(isTimeout: false)]
        .randomElement(using: &random) ?? .busy
    case 1:
      return .answer(
        status: Int.random(in: -1...700, using: &random),
        contentType: types.randomElement(using: &random) ?? nil,
        body: damaged(body.serialized()))
    case 2: return .answer(status: 200, contentType: "application/json", body: damaged(body.serialized()))
    default: return .answer(status: 200, contentType: "application/json", body: changed(body).serialized())
    }
  }
}

@Suite("Hostile input to Swedbank Pay's backend")
struct SwedbankHostileTorture {
  typealias Samples = SwedbankSamples

  private static let seed = Torture.seed(0x5EED_5EDB)
  private static let rounds = Torture.size(short: 1000, long: 200_000)

  /// Whether it has the form that the SDKs parse.
  private static func isForSDK(_ answer: BackendAnswer) -> Bool {
    if (400...599).contains(answer.status) {
      guard answer.contentType == "application/problem+json", case .object? = answer.json else {
        return false
      }
      if case .integer? = answer.json?["status"] { return true }
      return false
    }
    return (200...299).contains(answer.status) && answer.contentType == "application/json"
      && answer.json != nil
  }

  @Test("Every request ends with an answer that the SDKs parse, and every call goes to the configured host")
  func requests() throws {
    var input = HostileInput(random: SeededGenerator(seed: Self.seed))
    for round in 0..<Self.rounds {
      var harness = try SwedbankHarness.withOrder(
        .init(
          expand: true, tokens: true, payerTokens: true, usePaymentToken: Bool.random(using: &input.random)))
      harness.owners["user1"] = "u1"
      let (method, path, body) = Self.request(&input)
      let upstream = [
        Samples.createdV2, Samples.createdV3, Samples.paidWithTokens,
        Samples.payerTokens(HostileInput.secretToken, "tok-1"),
      ]
      harness.script = (0..<3).map { _ in input.reply(upstream.randomElement(using: &input.random) ?? .null) }
      let answer = try harness.send(method, path, body)
      #expect(Self.isForSDK(answer), "seed \(Self.seed), round \(round): \(answer.status) \(answer.text)")
      #expect(!answer.text.contains(SwedbankHarness.token))
      for report in harness.reports {
        #expect(report.key.id.text.hasPrefix("/"))
        #expect(report.startedBy == "u1")
        #expect(report.payment?.reference == SwedbankHarness.reference(1))
      }
    }
  }

  private static func request(_ input: inout HostileInput) -> (method: String, path: String, body: [UInt8]) {
    func segment(_ text: String) -> String {
      let escaped = text.utf8.map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
      return escaped.isEmpty ? "x" : escaped.joined()
    }
    let href: JSONValue = .string(
      Bool.random(using: &input.random) ? SwedbankHarness.base + SwedbankHarness.order : input.text())
    let deletion: JSONValue = ["state": "Deleted", "comment": .string(input.text())]
    let requests: [(String, String, JSONValue)] = [
      ("GET", "", .null), ("POST", "consumers", Samples.consumers),
      ("POST", "paymentorders", Samples.json(Samples.fullOrderV2)),
      ("POST", "paymentorders", Samples.json(Samples.orderV3)),
      ("PATCH", "paymentorders/\(segment(input.text()))/setInstrument", Samples.setInstrument),
      ("PATCH", "paymentorders/09ccd29a-7c4f-4752-9396-12100cbfecce/setInstrument", Samples.setInstrument),
      ("PATCH", "patch", ["href": href, "paymentorder": ["operation": "Abort"]]),
      ("POST", "expand", ["resource": href, "expand": ["paid"]]), ("POST", "tokens", ["resource": href]),
      ("GET", "payers/\(segment(input.text()))/paymentTokens", .null),
      ("GET", "payers/user1/paymentTokens", .null),
      ("PATCH", "payers/user1/paymentTokens/\(segment(input.text()))", deletion),
      ("PATCH", "payers/user1/paymentTokens/tok-1", deletion),
    ]
    let (method, path, body) = requests.randomElement(using: &input.random) ?? requests[0]
    switch Int.random(in: 0..<4, using: &input.random) {
    case 0: return (method, path, input.damaged(body.serialized()))
    case 1: return (method, path, input.changed(body).serialized())
    default: return (method, path, body.serialized())
    }
  }

  @Test func `A token that an answer names is nowhere in what the app gets`() throws {
    var input = HostileInput(random: SeededGenerator(seed: Self.seed &+ 1))
    var shown = 0
    for _ in 0..<Self.rounds {
      var harness = try SwedbankHarness.withOrder(.init(expand: true))
      let body: JSONValue = ["a": input.value(), "recurrenceToken": .string(HostileInput.secretToken)]
      harness.script = [.json(200, body)]
      let answer = try harness.send(
        "POST", "expand", ["resource": .string(SwedbankHarness.order), "expand": ["paid"]])
      #expect(answer.status == 200)
      #expect(!answer.text.contains(HostileInput.secretToken))
      // Everything else is as it was.
      let masked = Samples.json(answer.body)["a"]
      if masked == body["a"]?.normal { shown += 1 }
    }
    #expect(shown > Self.rounds / 2)
  }

  @Test("Callbacks and answers of any bytes are read, and every lookup stays at the configured host")
  func callbacks() throws {
    var input = HostileInput(random: SeededGenerator(seed: Self.seed &+ 2))
    let processor = try SwedbankHarness.processor()
    let queries = try #require(processor.queries)
    var found = 0
    for _ in 0..<Self.rounds {
      let callback: JSONValue = [
        "paymentOrder": [
          "id": .string(Bool.random(using: &input.random) ? input.text() : SwedbankHarness.order)
        ],
        "payment": input.value(),
      ]
      let body = input.damaged(callback.serialized())
      let reading = processor.read(body, now: SwedbankHarness.startedAt)
      #expect(reading == processor.read(body, now: SwedbankHarness.startedAt))
      _ = queries.report(
        from: body, about: SwedbankHarness.key(SwedbankHarness.order), now: .init(unixSeconds: 0))
      guard case .fetchFirst(let key, _, isWorthKeeping: let isKept) = reading.content else { continue }
      found += 1
      #expect(!isKept)
      #expect(UntrustedText.identifier(key.id.text) == key.id.text)
      for query in queries.lookups(of: key, sessionID: nil, lacking: nil) {
        #expect(query.url(at: queries.base).hasPrefix(SwedbankHarness.base + "/"))
        #expect(query.target.hasSuffix("?$expand=paid"))
        #expect(!query.target.contains(".."))
        #expect(!query.target.hasPrefix("//"))
      }
    }
    #expect(found > Self.rounds / 8)
  }
}
