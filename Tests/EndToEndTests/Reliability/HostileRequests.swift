// Requests of hostile clients and the expected responses, one row a case. Values.

/// The expected end of a connection.
enum HostileVerdict: Sendable, Equatable {
  /// These statuses in this order; then the relay closes.
  case closes([Int])
  /// libmicrohttpd refuses the request itself, in HTML and possibly with a second head; then it closes.
  case refusedByLibrary(Int)
  /// These statuses in this order; the connection stays open and serves a further request.
  case goesOn([Int])
  /// No response: the input is not a request yet, and none follows. The connection is closed after the idle
  /// timeout.
  case silence
}

/// One connection of a hostile client.
struct HostileRequest: Sendable {
  enum End: Sendable {
    case waits
    /// Closes its sending side, and waits for the response.
    case halfCloses
  }

  let name: String
  var bytes: [UInt8]
  let verdict: HostileVerdict
  var end = End.waits

  init(_ name: String, _ bytes: [UInt8], _ verdict: HostileVerdict, end: End = .waits) {
    (self.name, self.bytes, self.verdict, self.end) = (name, bytes, verdict, end)
  }

  init(_ name: String, _ text: String, _ verdict: HostileVerdict, end: End = .waits) {
    self.init(name, Array(text.utf8), verdict, end: end)
  }
}

/// The rows, by theme.
enum HostileRequests {
  static let contexts = "/v1/shop/users/hostile/contexts"
  static let key = "X-API-KEY: \(Secrets.clientKey)\r\nContent-Type: application/json\r\n"

  static func all() throws -> [HostileRequest] {
    try framing + chunks + lines + paths + bodies() + protocols()
  }

  /// A request that posts a context, with the given framing of its body.
  private static func post(_ framing: String, _ body: String = "{}") -> String {
    "POST \(contexts) HTTP/1.1\r\nHost: x\r\n\(key)\(framing)\r\n\(body)"
  }

  private static func get(_ target: String, _ headers: String = "") -> String {
    "GET \(target) HTTP/1.1\r\nHost: x\r\n\(headers)\r\n"
  }

  /// Requests whose end two parsers could see differently (RFC 9112 §6.1, §6.3, §11.2).
  private static var framing: [HostileRequest] {
    let smuggled = "0\r\n\r\n" + get("/smuggled")
    return [
      .init(
        "Content-Length, then chunked",
        post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", smuggled), .closes([400])),
      .init(
        "chunked, then Content-Length",
        post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", smuggled), .closes([400])),
      .init("two lengths that differ", post("Content-Length: 2\r\nContent-Length: 3\r\n"), .closes([400])),
      .init("two lengths that agree", post("Content-Length: 2\r\nContent-Length: 2\r\n"), .closes([400])),
      .init("a list of lengths", post("Content-Length: 2, 2\r\n"), .refusedByLibrary(400)),
      .init("a negative length", post("Content-Length: -2\r\n"), .refusedByLibrary(400)),
      .init("a length with a sign", post("Content-Length: +2\r\n"), .refusedByLibrary(400)),
      .init("a length in hexadecimal", post("Content-Length: 0x2\r\n"), .refusedByLibrary(400)),
      .init("an empty length", post("Content-Length: \r\n"), .refusedByLibrary(400)),
      .init("a length over 2^64", post("Content-Length: 99999999999999999999\r\n"), .refusedByLibrary(413)),
      .init("a length of 4 GB", post("Content-Length: 4294967296\r\n"), .closes([413])),
      .init(
        "a coding before chunked", post("Transfer-Encoding: gzip, chunked\r\n", smuggled), .closes([400])),
      .init("an unknown coding", post("Transfer-Encoding: xchunked\r\n", smuggled), .closes([400])),
      .init(
        "chunked twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", smuggled),
        .closes([400])),
      .init(
        "chunked with a tab before it", post("Transfer-Encoding:\tchunked\r\n", "2\r\n{}\r\n0\r\n\r\n"),
        .closes([400])),
      .init("a space before the colon", post("Transfer-Encoding : chunked\r\n", smuggled), .closes([400])),
      .init("a folded header field", post("Content-Length:\r\n 2\r\n"), .closes([400])),
      .init(
        "a request inside of a body", post("Content-Length: 44\r\n", get("/smuggled/////////")),
        .goesOn([400])),
      .init(
        "five requests at once: only the first is read", String(repeating: get("/nowhere"), count: 5),
        .closes([404])),
    ]
  }

  private static var chunks: [HostileRequest] {
    let chunked = "Transfer-Encoding: chunked\r\n"
    func row(_ name: String, _ body: String, _ verdict: HostileVerdict) -> HostileRequest {
      .init(name, post(chunked, body), verdict)
    }
    let endless = String(repeating: "1000\r\n\(String(repeating: "x", count: 0x1000))\r\n", count: 40)
    let tiny = String(repeating: "1\r\nx\r\n", count: 70_000)
    return [
      row("chunks without end", endless, .closes([413])),
      row("chunks of one byte without end", tiny, .closes([413])),
      row("a chunk size that is no number", "zz\r\n{}\r\n0\r\n\r\n", .refusedByLibrary(400)),
      row("a negative chunk size", "-2\r\n{}\r\n0\r\n\r\n", .refusedByLibrary(400)),
      row("a chunk size over 2^64", "FFFFFFFFFFFFFFFFFF\r\n{}", .refusedByLibrary(413)),
      row("a chunk that is longer than its size", "1\r\n{}\r\n0\r\n\r\n", .refusedByLibrary(400)),
      row(
        "a chunk extension without end", "2;\(String(repeating: "a", count: 100_000))", .refusedByLibrary(500)
      ),
      row(
        "trailers without end", "2\r\n{}\r\n0\r\n\(String(repeating: "X-T: 1\r\n", count: 20_000))",
        .refusedByLibrary(431)),
    ]
  }

  private static var lines: [HostileRequest] {
    let long = String(repeating: "a", count: 100_000)
    let nul = "\0"
    return [
      .init("a header field of 100 KB", get("/", "X-Long: \(long)\r\n"), .refusedByLibrary(431)),
      .init(
        "ten thousand header fields", get("/", String(repeating: "X: 1\r\n", count: 10_000)),
        .refusedByLibrary(431)),
      .init("a target of 100 KB", get("/\(long)"), .refusedByLibrary(414)),
      .init("a NUL in the method", "G\(nul)T / HTTP/1.1\r\nHost: x\r\n\r\n", .closes([400])),
      .init("a NUL in the target", get("/v1/\(nul)shop/contexts/x"), .closes([400])),
      .init("a NUL in a header field's name", get("/", "X\(nul)Y: 1\r\n"), .refusedByLibrary(400)),
      .init("a NUL in a header field's value", get("/", "X-Y: 1\(nul)2\r\n"), .closes([400])),
      .init("no Host", "GET / HTTP/1.1\r\n\r\n", .closes([400])),
      .init("an empty name", get("/", ": a\r\n") + get("/smuggled"), .closes([400])),
      .init("a header field without a colon", get("/", "nonsense\r\n"), .refusedByLibrary(400)),
      .init("a method that is not there", "BREW / HTTP/1.1\r\nHost: x\r\n\r\n", .goesOn([404])),
      .init("a version that is not there", "GET / HTTP/9.9\r\nHost: x\r\n\r\n", .refusedByLibrary(505)),
      .init("HTTP/0.9", "GET /\r\n\r\n", .refusedByLibrary(400)),
      .init(
        "two users in header fields",
        "POST /v1/shop/contexts HTTP/1.1\r\nHost: x\r\n\(key)X-User-Id: a\r\nX-User-Id: b\r\n"
          + "Content-Length: 22\r\n\r\n{\"ply_context\":\"YQ==\"}", .goesOn([400])),
      .init("HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", .closes([404])),
      .init("bare line feeds", "GET / HTTP/1.1\nHost: x\n\n", .closes([400])),
      .init("a bare carriage return", get("/", "X-Y: 1\rX-Z: 2\r\n"), .closes([400])),
      .init(
        "a key that is no UTF-8",
        Array("POST \(contexts) HTTP/1.1\r\nHost: x\r\nX-API-KEY: ".utf8) + [0xFF, 0xFE]
          + Array("\r\nContent-Length: 0\r\n\r\n".utf8), .goesOn([401])),
    ]
  }

  private static var paths: [HostileRequest] {
    let rows: [(String, Int)] = [
      ("/v1/shop/../shop/contexts/x", 404), ("/v1/shop/contexts/..", 404), ("/../../etc/passwd", 404),
      ("/v1/shop/contexts/%2e%2e%2fx", 404), ("/v1%2fshop%2fcontexts%2fx", 404),
      ("//v1/shop/contexts/x", 404), ("/v1/shop//contexts/x", 404), ("/v1/shop/contexts/x/", 404),
      ("/v1/shop/contexts/%00", 404), ("/v1/shop/contexts/x%00y", 404), ("/v1/shop/contexts/%ff", 400),
      ("/v1/shop/contexts/%", 400), ("/v1/shop/contexts/%zz", 400), ("/v1/SHOP/contexts/x", 404),
      ("/v1/shop/contexts/ctx_%27%20OR%201=1--", 404), ("/v1/shop/contexts/x?wait=99999999999999999999", 400),
      ("/metrics", 404), ("*", 404), ("http://other.example/metrics", 404), ("/v1/shop/contexts/x#y", 404),
    ]
    return rows.map { .init("the target \($0.0)", get($0.0), .goesOn([$0.1])) }
  }
}
