// Callbacks: unsigned hints, of which only the payment order's id is used.

import Domain
import Formats
import Partners
import Testing

@Suite("Callbacks of Swedbank Pay")
struct SwedbankHintTests {
  private static let samples = SwedbankSamples.json(PackageResources.swedbank_callbacks_json)
  private static let now = SwedbankHarness.startedAt

  private static func read(_ body: String) throws -> EventReading {
    try SwedbankHarness.processor().read(Array(body.utf8), now: now)
  }

  /// The order that a callback names; nil if it names none.
  private static func order(_ body: String) throws -> PurchaseKey? {
    guard case .fetchFirst(let key, nil, isWorthKeeping: false) = try read(body).content else { return nil }
    return key
  }

  private static func request(
    token: String?, address: String = SwedbankHarness.sender
  ) -> WebhookRequest {
    WebhookRequest(body: [], address: address, pathToken: token) { _ in [] }
  }

  // MARK: Who sent it

  @Test("CB08, CB09: Only the path in our callback URL and Swedbank Pay's addresses are accepted, as a hint")
  func authenticity() throws {
    let token = try SwedbankHarness.callbackToken()
    let processor = try SwedbankHarness.processor()
    #expect(processor.authenticate(Self.request(token: token), now: Self.now) == .hint)
    for wrong in [
      nil, "", "x", token + "x", String(token.dropLast()), token.lowercased(), SwedbankHarness.token,
    ] {
      #expect(processor.authenticate(Self.request(token: wrong), now: Self.now) == .refused(.path))
    }
    for address in ["203.0.113.9", "", "20.91.170.121, 203.0.113.9"] {
      let request = Self.request(token: token, address: address)
      #expect(processor.authenticate(request, now: Self.now) == .refused(.sender))
      let both = Self.request(token: "x", address: address)
      #expect(processor.authenticate(both, now: Self.now) == .refused(.path))
    }
  }

  @Test("The path's secret depends on the app and the merchant, and does not contain the merchant's token")
  func pathToken() throws {
    let tokens = [
      try SwedbankHarness.callbackToken(), try SwedbankHarness.callbackToken(app: "android"),
      try SwedbankHarness.callbackToken(token: "another"),
    ]
    #expect(Set(tokens).count == 3)
    #expect(try SwedbankHarness.callbackToken() == tokens[0], "nothing must be stored for it")
    for token in tokens { #expect(token.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil) }
  }

  @Test("Without the merchant's token nothing is accepted, asked or served, but stored callbacks are read")
  func withoutToken() throws {
    let processor = try SwedbankHarness.processor(token: nil)
    #expect(processor.authenticate(Self.request(token: ""), now: Self.now) == .refused(.path))
    #expect(processor.queries == nil)
    #expect(processor.backend == nil)
    #expect(processor.captures == nil)
    let body = Array(#"{"paymentOrder":{"id":"/psp/paymentorders/1"}}"#.utf8)
    #expect(
      processor.read(body, now: Self.now) == (try SwedbankHarness.processor().read(body, now: Self.now)))
  }

  // MARK: What it says

  @Test func `CB02: Callbacks of every version name the payment order, and only that`() throws {
    for version in ["v3_0", "v3_1"] {
      let body = try #require(Self.samples[version])
      #expect(try Self.order(body.text) == SwedbankHarness.key(SwedbankHarness.order))
      #expect(
        try Self.order(body.with("paymentorder", body["paymentOrder"]).with("paymentOrder", nil).text)
          == SwedbankHarness.key(SwedbankHarness.order))
      #expect(try Self.order(body.with("paymentOrder", nil).text) == nil)
    }
  }

  @Test("CB10: `number` may be a string or a number, and unknown members do not matter")
  func numbers() throws {
    for number in ["1", "\"1\"", "null", "1e999", "{}"] {
      let body =
        #"{"x":[{}],"paymentOrder":{"id":"\#(SwedbankHarness.order)","number":\#(number),"y":1},"z":""}"#
      #expect(try Self.order(body) == SwedbankHarness.key(SwedbankHarness.order))
    }
  }

  @Test(arguments: [
    #""https://evil.test/x""#, #""/psp/../x""#, #""/psp/%2e%2e/x""#, #""//evil.test/x""#, "1", "null",
    #""""#, "[]", "{}", #""x""#, #""/""#, #""/psp/""#, #""/psp//x""#, #""/psp/x?y""#, #""/psp/x#y""#,
    #""/psp/x y""#, #""/psp/x\u0000""#, #""/psp/x\n""#, #""/psp/é""#, #""\ud800""#, #""/psp/./x""#,
    #""/psp/a..b""#,
    #""http://api.payex.example/x""#, #""https://api.payex.example@evil.test/x""#, #""/a:b""#,
    #""/psp/\#(String(repeating: "x", count: 255))""#,
  ])
  func `CB07: An id that is no path of a payment order asks for nothing`(_ id: String) throws {
    let reading = try Self.read(#"{"paymentOrder":{"id":\#(id)}}"#)
    #expect(reading.content == .nothing(.unparsed))
    #expect(reading.id == nil)
    let queries = try #require(try SwedbankHarness.processor().queries)
    if let text = SwedbankSamples.json(Array(id.utf8)).stringValue {
      #expect(queries.lookups(of: SwedbankHarness.key(text), sessionID: nil, lacking: nil).isEmpty)
    }
  }

  @Test("CB06: A callback about an unknown order causes no request, so it is not worth keeping")
  func unknown() throws {
    let reading = try Self.read(#"{"paymentOrder":{"id":"/psp/paymentorders/unknown"}}"#)
    let key = SwedbankHarness.key("/psp/paymentorders/unknown")
    #expect(reading.content == .fetchFirst(key, sessionID: nil, isWorthKeeping: false))
  }

  @Test func `CB05: Each callback is an event, because equal bytes may report different changes`() throws {
    let body = Array(#"{"paymentOrder":{"id":"/psp/paymentorders/1"}}"#.utf8)
    let processor = try SwedbankHarness.processor()
    let ids = (0..<8).map { processor.read(body, now: Self.now + .seconds($0 * 30)).id }
    #expect(Set(ids).count == 8)
    for id in ids { #expect(UntrustedText.identifier(id?.text) == id?.text) }
  }

  @Test func `A callback's body has no state: the same order is read from every body that names it`() throws {
    let body = #"{"paymentOrder":{"id":"\#(SwedbankHarness.order)","status":"Paid","amount":1}}"#
    #expect(try Self.order(body) == SwedbankHarness.key(SwedbankHarness.order))
  }
}
