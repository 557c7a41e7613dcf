import HTTPServer
import Platform
import Testing

@Suite("Requests") struct ServerRequestTests {
  /// Sends one request, and returns the answer and the request as the application saw it.
  private func exchange(_ bytes: [UInt8]) throws -> (Reply, RequestHead?) {
    let application = TestApplication.echo()
    let server = try application.serve()
    defer { server.stop(grace: .seconds(1)) }
    let client = try TestClient(server)
    try client.send(bytes)
    let reply = try client.response()
    return (reply, application.seen.withLock { $0.heads.first })
  }

  private func exchange(_ text: String) throws -> (Reply, RequestHead?) { try exchange(Array(text.utf8)) }

  @Test(arguments: [
    "/a%2Fb", "/a%2fb", "/a%00b", "/../etc/passwd", "/a/../b", "//a//b", "/%", "/%zz", "/a+b", "/ü",
    "/%C3%BC",
    "*", "/a%20b?c=%26&d=+?e", "/?", "/#x",
  ])
  func `The target reaches the application unchanged`(_ target: String) throws {
    let (reply, head) = try exchange("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(reply.status == 200)
    #expect(reply.body == "GET \(target) ")
    #expect(head?.target == target)
  }

  @Test(
    "Path and query are split at the first question mark",
    arguments: [
      ("/a", "/a", nil), ("/a?", "/a", ""), ("/a?b=c?d", "/a", "b=c?d"), ("?", "", ""),
      ("http://host/a?b", "/a", "b"), ("HTTPS://host", "/", nil), ("http://host?b", "/", "b"),
    ])
  func splitting(_ target: String, path: String, query: String?) throws {
    let (_, head) = try exchange("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(head?.path == path)
    #expect(head?.query == query)
  }

  @Test func `Header fields are found in any case, in their order`() throws {
    let (_, head) = try exchange(
      "POST / HTTP/1.1\r\nHost: x\r\nX-Key: one\r\nx-key: two\r\nX-KEY2: three\r\nContent-Length: 0\r\n\r\n")
    let seen = try #require(head)
    #expect(seen.header("x-KEY") == "one")
    #expect(seen.headers("X-Key") == ["one", "two"])
    #expect(seen.header("X-Key2") == "three")
    #expect(seen.header("X-Ke") == nil)
    #expect(seen.contentLength == 0)
    #expect(seen.method == "POST")
    #expect(seen.remoteAddress == "127.0.0.1")
  }

  @Test func `A target that is not valid UTF-8 is refused`() throws {
    let (reply, head) = try exchange(
      Array("GET /".utf8) + [0xC3, 0x28] + Array(" HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
    #expect(reply.status == 400)
    #expect(reply.body == "malformed")
    #expect(head == nil)
  }

  @Test("A header field that is not valid UTF-8 is not repaired, and differs from an absent one")
  func invalidHeader() throws {
    let line = Array("GET / HTTP/1.1\r\nHost: x\r\nX-User-Id: a".utf8)
    let (reply, head) = try exchange(line + [0xFF] + Array("\r\nX-User-Id: b\r\n\r\n".utf8))
    #expect(reply.status == 200)
    #expect(head?.header("X-User-Id") == nil)
    #expect(head?.headers("X-User-Id") == ["b"])
    #expect(head?.isUndecodable("x-user-id") == true)
    #expect(head?.isUndecodable("Host") == false)
  }

  @Test(
    "A body with an ambiguous end is refused, and no byte after it is read as a request",
    arguments: [
      "Content-Length: 4\r\nContent-Length: 5", "Content-Length: 4\r\nTransfer-Encoding: chunked",
      "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: identity", "Content-Length: +4",
      "Content-Length: 4, 4",
      "Content-Length: -1", "Content-Length: 99999999999999999999",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
      "Transfer-Encoding : chunked", "Content-Length : 4", "Content-Length:\r\n 4",
      "Transfer-Encoding:\r\n chunked", "Transfer-Encoding: chunked\r\n x",
      "Content-Length: 4\r\n \t4", "X: 1\rContent-Length: 4",
    ])
  func ambiguousLength(_ framing: String) throws {
    let application = TestApplication.echo()
    let server = try application.serve()
    let client = try TestClient(server)
    try client.send(
      "POST / HTTP/1.1\r\nHost: x\r\n\(framing)\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
    let reply = try client.response()
    #expect((400...499).contains(reply.status))
    #expect(!(try client.rest().contains("HTTP/1.1")))
    #expect(application.seen.withLock { $0.heads.isEmpty })
  }

  @Test(arguments: [
    "\r\n\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\0\0\0\0\r\n\r\n",
    "GET / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nno colon\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\n",
    "GET /a\0b HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n",
  ])
  func `Bytes that are not HTTP do no harm`(_ text: String) throws {
    let application = TestApplication.echo()
    let server = try application.serve { $0.idleTimeout = .seconds(1) }
    do {
      let client = try TestClient(server)
      try client.send(text)
      _ = client.isReadable(within: .milliseconds(100))
    }
    let client = try TestClient(server)
    try client.send("GET /after HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try client.response().body == "GET /after ")
    server.stop(grace: .zero)
  }
}
