// Hostile bodies, and input that is not HTTP/1.1. Values.

extension HostileRequests {
  /// The number of events in these rows with a valid signature, which must be stored.
  static let signedEvents = 8

  static func bodies() throws -> [HostileRequest] {
    let deep = String(repeating: "[", count: 60_000)
    let nested = String(repeating: #"{"a":"#, count: 12_000)
    let posts: [HostileRequest] = [
      .init("a body of nothing", post([]), .goesOn([400])),
      .init("a body that is no JSON", post(Array("ply_context=x".utf8)), .goesOn([400])),
      .init("60,000 opening brackets", post(Array(deep.utf8)), .goesOn([400])),
      .init("12,000 objects in each other", post(Array(nested.utf8)), .goesOn([400])),
      .init("a body that is no UTF-8", post([0x7B, 0x22, 0xFF, 0xFE, 0x22, 0x7D]), .goesOn([400])),
      .init("NULs in a body", post([UInt8](repeating: 0, count: 1000)), .goesOn([400])),
      .init("a NUL in a blob", post(Array(#"{"ply_context":"eyJ\#u{0}hIjoxfQ=="}"#.utf8)), .goesOn([400])),
      .init(
        "an escaped NUL in a blob", post(Array(#"{"ply_context":"eyJ\u0000hIjoxfQ=="}"#.utf8)), .goesOn([400])
      ),
      .init("half a surrogate pair", post(Array(#"{"ply_context":"\ud800"}"#.utf8)), .goesOn([400])),
      .init(
        "a blob that is a number over 2^63", post(Array(#"{"ply_context":9223372036854775808}"#.utf8)),
        .goesOn([400])),
      .init(
        "the same key twice in a context: the first counts",
        post(Array(#"{"ply_context":"!","ply_context":"eyJhIjoxfQ=="}"#.utf8)), .goesOn([400])),
      .init("a body of 64 KiB and a byte", post([UInt8](repeating: 0x20, count: 65_537)), .closes([413])),
    ]
    return try posts + events()
  }

  private static func post(_ body: [UInt8]) -> [UInt8] {
    Array("POST \(contexts) HTTP/1.1\r\nHost: x\r\n\(key)Content-Length: \(body.count)\r\n\r\n".utf8) + body
  }

  /// Unusual events. Those with a valid signature are stored, understood or not (R6).
  private static func events() throws -> [HostileRequest] {
    let most = 4 << 20
    func fill(_ head: String, _ unit: String, _ tail: String) -> [UInt8] {
      let count = (most - head.utf8.count - tail.utf8.count) / unit.utf8.count
      return Array((head + String(repeating: unit, count: count) + tail).utf8)
    }
    let number = #"{"id":"evt_hostile_number","object":"event","type":"checkout.session.completed","#
    let twice =
      #"{"id":"evt_hostile_1","id":"evt_hostile_2","object":"event","type":"x","type":"y","data":{}}"#
    let signed: [(String, [UInt8])] = [
      ("4 MiB of [, signed", [UInt8](repeating: UInt8(ascii: "["), count: most)),
      ("4 MiB of numbers, signed", fill(#"{"id":"evt_hostile_numbers","type":"x","data":["#, "0,", "0]}")),
      ("4 MiB of objects in each other, signed", fill("", #"{"a":"#, "")),
      ("4 MiB of escapes, signed", fill(#"{"id":"evt_hostile_escapes","type":""#, #"\u0041"#, #""}"#)),
      (
        "numbers beyond 2^63, signed",
        Array((number + #""created":9223372036854775808,"livemode":1e999}"#).utf8)
      ),
      ("the same keys twice, signed", Array(twice.utf8)),
      ("an event that is no UTF-8, signed", [0xFF, 0xFE, 0x00]),
      ("an event of nothing, signed", []),
    ]
    var rows = try signed.map { name, body in
      let signature = try Stripe.signature(of: body, secret: Secrets.webhook)
      return HostileRequest(name, event(body, "Stripe-Signature: \(signature)\r\n"), .goesOn([200]))
    }
    precondition(rows.count == signedEvents)
    let long = "t=1," + String(repeating: "v1=00,", count: 3000)
    rows += [
      .init(
        "4 MiB of [, unsigned", event([UInt8](repeating: 0x5B, count: most), ""),
        .goesOn([400])),
      .init("a signature header of 18 KB", event([], "Stripe-Signature: \(long)\r\n"), .goesOn([400])),
      .init(
        "a signature that is no UTF-8",
        Array("POST \(Stripe.eventsPath) HTTP/1.1\r\nHost: x\r\nStripe-Signature: ".utf8) + [0xFF]
          + Array("\r\nContent-Length: 0\r\n\r\n".utf8), .goesOn([400])),
    ]
    return rows
  }

  private static func event(_ body: [UInt8], _ headers: String) -> [UInt8] {
    let head =
      "POST \(Stripe.eventsPath) HTTP/1.1\r\nHost: x\r\n\(headers)Content-Length: \(body.count)\r\n\r\n"
    return Array(head.utf8) + body
  }

  static func protocols() -> [HostileRequest] {
    // The beginning of a TLS 1.3 ClientHello, RFC 8446 §4.1.2; it contains no line end.
    let hello: [UInt8] = [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03]
    let random = (0..<500).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ 89) }.filter {
      $0 != 0x0A && $0 != 0x0D
    }
    let whole = Array("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
    return [
      .init("TLS on a plain port", hello + random, .silence),
      .init("garbage without a line", random, .silence),
      .init(
        "garbage in lines", random + [0x0D, 0x0A] + random + [0x0D, 0x0A, 0x0D, 0x0A],
        .refusedByLibrary(400)),
      .init("nothing but line ends", [UInt8](repeating: 0x0A, count: 1000), .silence),
      .init("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .refusedByLibrary(505)),
      .init(
        "an upgrade to HTTP/2", "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
        .goesOn([404])),
      .init("CONNECT", "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n", .goesOn([404])),
      .init("TRACE", "TRACE /v1/shop/contexts/x HTTP/1.1\r\nHost: x\r\nX-API-KEY: k\r\n\r\n", .goesOn([405])),
      .init(
        "an expectation that is not there", "GET / HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\n\r\n",
        .goesOn([404])),
      .init(
        "leave is asked for 4 GB",
        "POST \(contexts) HTTP/1.1\r\nHost: x\r\n\(key)Expect: 100-continue\r\n"
          + "Content-Length: 4294967296\r\n\r\n",
        .closes([413])),
      .init("half-closed after a request", whole, .closes([404]), end: .halfCloses),
      .init("half-closed in a request line", Array("GET /no".utf8), .closes([]), end: .halfCloses),
      .init(
        "half-closed in the header fields", Array("GET / HTTP/1.1\r\nHost:".utf8), .closes([]),
        end: .halfCloses),
      .init(
        "half-closed in a body", post([UInt8](repeating: 0x20, count: 100)).dropLast(50) + [], .closes([]),
        end: .halfCloses),
      .init("half-closed before anything", [], .closes([]), end: .halfCloses),
    ]
  }
}
