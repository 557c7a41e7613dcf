// Requests that another parser could read in another way (RFC 9112 §11.2), byte by byte.

import HTTPServer
import Platform
import Testing

@Suite("Requests that two parsers could read differently") struct AmbiguousRequestTests {
  private static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"

  /// Sends a request and a hidden one after it.
  /// - Returns: the first answer, and what follows it until the server closes.
  private static func exchange(
    _ text: String, _ application: TestApplication = .echo()
  ) throws -> (reply: Reply, rest: String, targets: [String]) {
    let server = try application.serve()
    defer { server.stop(grace: .seconds(1)) }
    let client = try TestClient(server)
    try client.send(text + smuggled)
    let reply = try client.response()
    return (reply, try client.rest(), application.seen.withLock { $0.heads.map(\.target) })
  }

  static let lines = [
    "X: a\0b", "X: a\0", "X: \0a", "\0X: a", "\0", "\0\0", "X\0: a", "X\0", "X: a\0\0",
    ":", ": a", ":a", "::", "\t: a", "X : a", "X\t: a", "X Y: a", "X", "X(: a", "é: a",
    " X: a", "\tX: a", " a", "X: a\r\n b", "X: a\r\n\tb", "X:\r\n a", "X: a\r\n ",
    "X: a\rb", "X: a\r", "\rX: a", "X\r: a", "X: a\nY: b", "X: a\n", "\nX: a", "\n", "X: a\n\nY: b",
  ]

  @Test(arguments: lines)
  func `A line that ends, hides or joins fields in libmicrohttpd is refused`(_ line: String) throws {
    for place in ["\(line)\r\nHost: x\r\nY: b", "Host: x\r\n\(line)\r\nY: b", "Host: x\r\n\(line)"] {
      let (reply, rest, targets) = try Self.exchange("GET / HTTP/1.1\r\n\(place)\r\n\r\n")
      #expect(reply.status == 400, "\(place.debugDescription)")
      #expect(reply.closes)
      #expect(!rest.contains("HTTP/1.1"))
      #expect(targets == [])
    }
  }

  static let heads =
    [
      "GET / HTTP/1.1\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\n",
      "GET / HTTP/1.1\nHost: x\n\n", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET / a HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET /\0a HTTP/1.1\r\nHost: x\r\n\r\n", "GET /?\0a HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET /a\tb HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a\rb HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET /\u{7F} HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a\0HTTP/1.1\0\0 HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET\0/ / HTTP/1.1\r\nHost: x\r\n\r\n", "GET /  HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nhOST: y\r\n\r\n", "GET / HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n",
      "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked \r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\tchunked\t\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ]
    + [
      "a b", "a,b", "a/b", "u@a", "a:b", "a:1:2", "[::1", "[]", "[::1]a", "::1", "\"a\"", "a\\b", "<a>", "é",
    ]
    .map { "GET / HTTP/1.1\r\nHost: \($0)\r\n\r\n" }

  @Test(arguments: heads)
  func `An ambiguous request line, host or length is refused`(_ head: String) throws {
    let (reply, rest, targets) = try Self.exchange(head)
    #expect(reply.status == 400)
    #expect(reply.closes)
    #expect(!rest.contains("HTTP/1.1"))
    #expect(targets == [])
  }

  @Test(arguments: [
    "x", "X.example:80", "a_b-c.d", "127.0.0.1:8080", "[::1]", "[::1]:80", "", "x:", "a%20b", "a!b=c",
  ])
  func `Every valid host is served`(_ host: String) throws {
    #expect(try Self.exchange("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n").reply.status == 200)
  }

  @Test(arguments: [
    "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab",
    // These ends look like CRLF after libmicrohttpd has parsed them.
    "GET / HTTP/1.1\r\nHost: x\r\n:\n", "GET / HTTP/1.1\r\nHost: x\r\n\0\n",
    "GET / HTTP/1.1\r\nHost: x\r\nX: a\0\nContent-Length: 0\r\n\r\n",
  ])
  func `A request that arrived before the answer to the first one is never answered`(_ first: String) throws {
    let (reply, rest, targets) = try Self.exchange(first)
    #expect([200, 400].contains(reply.status))
    #expect(reply.closes)
    #expect(rest == "")
    #expect(targets.count <= 1)
  }

  @Test func `A request that arrives while the first one is answered is not answered either`() throws {
    let application = TestApplication()
    let server = try application.serve()
    defer { server.stop(grace: .seconds(1)) }
    let client = try TestClient(server)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    let responder = try application.nextResponder()
    try client.send(Self.smuggled)
    responder.respond(Response(status: 200, text: "first"))
    #expect(try client.response().body == "first")
    #expect(try client.rest() == "")
    #expect(application.seen.withLock { $0.heads.count } == 1)
  }

  @Test(
    "After a body in chunks the connection ends, whatever stands around its chunks",
    arguments: [
      "0\r\n\r\n", "2\r\nab\r\n0\r\n\r\n", "0\r\nX: a\r\n\r\n", "0\r\n: a\r\n\r\n", "0\r\nX: a\r\n:\r\n\r\n",
      "0\r\n\0X: a\r\n\r\n", "0\n\n", "2\nab\n0\n\n",
      "2;a\r\nab\r\n0;b\r\n\r\n",
    ])
  func chunked(_ body: String) throws {
    let application = TestApplication.echo()
    let (reply, rest, targets) = try Self.exchange(
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\(body)", application)
    #expect([200, 400].contains(reply.status))
    #expect(reply.closes)
    #expect(!rest.contains("HTTP/1.1"))
    #expect(targets == ["/"])
  }

  @Test func `Blanks around the value of a field are not a part of it`() throws {
    let application = TestApplication.echo()
    let (reply, _, _) = try Self.exchange(
      "GET / HTTP/1.1\r\nHost: \t x \t\r\nX-User-Id:\t jdo-1 \t \r\nX-Empty: \t \r\nX-None:\r\n"
        + "X-In:a \t b\r\n\r\n",
      application)
    #expect(reply.status == 200)
    let head = try #require(application.seen.withLock { $0.heads.first })
    #expect(head.header("Host") == "x")
    #expect(head.header("X-User-Id") == "jdo-1")
    #expect(head.headerBytes("X-User-Id").map(Array.init) == Array("jdo-1".utf8))
    #expect(head.header("X-Empty") == "")
    #expect(head.header("X-None") == "")
    #expect(head.header("X-In") == "a \t b")
  }

  /// The status of a request's answer; nil if the server closes without one.
  private static func status(_ server: Server, _ text: String) throws -> Int? {
    let client = try TestClient(server)
    // The server may have closed already.
    try? client.send(text)
    return try? client.response().status
  }

  @Test func `A head of any size is answered`() throws {
    let server = try TestApplication.echo().serve()
    defer { server.stop(grace: .seconds(1)) }
    var accepted: [Int] = []
    for length in Array(stride(from: 21_000, to: 34_000, by: 250))
      + Array(stride(from: 23_700, to: 24_800, by: 25))
    {
      let field = "X: " + String(repeating: "a", count: length)
      let status = try Self.status(server, "GET / HTTP/1.1\r\nHost: x\r\n\(field)\r\n\r\n")
      #expect(status == 200 || status == 431, "\(length) bytes: \(status ?? 0)")
      if status == 200 { accepted.append(length) }
      let target = "/?" + String(repeating: "a", count: length)
      let ofTarget = try Self.status(server, "GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect([200, 414, 431].contains(ofTarget), "a target of \(length) bytes: \(ofTarget ?? 0)")
    }
    #expect(accepted.max() ?? 0 > 24_000)
  }

  @Test func `Any number of parameters, fields and cookies is answered`() throws {
    let server = try TestApplication.echo().serve()
    defer { server.stop(grace: .seconds(1)) }
    for count in [1, 75, 220] + Array(stride(from: 280, to: 480, by: 3)) + [750, 3000] {
      let query = (0..<count).map { "a\($0)=b" }.joined(separator: "&").prefix(21_000)
      #expect(
        try Self.status(server, "GET /?\(query) HTTP/1.1\r\nHost: x\r\n\r\n") == 200, "\(count) parameters")
      let fields = (0..<count).map { "A\($0): b\r\n" }.joined()
      let ofFields = try Self.status(server, "GET / HTTP/1.1\r\nHost: x\r\n\(fields)\r\n")
      #expect([200, 431].contains(ofFields), "\(count) fields: \(ofFields ?? 0)")
      let cookies = (0..<count).map { "a\($0)=b" }.joined(separator: "; ")
      let ofCookies = try Self.status(server, "GET / HTTP/1.1\r\nHost: x\r\nCookie: \(cookies)\r\n\r\n")
      #expect([200, 431].contains(ofCookies), "\(count) cookies: \(ofCookies ?? 0)")
    }
  }
}
