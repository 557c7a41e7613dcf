import HTTPServer
import Platform
import Testing

@Suite("Limits") struct LimitTests {
  @Test func `A body that is announced over the limit is refused before it is read`() throws {
    let application = TestApplication.echo(10)
    let server = try application.serve()
    let client = try TestClient(server)
    try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n")
    let reply = try client.response()
    #expect(reply.status == 413)
    #expect(reply.body == "at most 10")
    #expect(reply.closes)
    #expect(try client.rest() == "")
    #expect(application.rejections == [.bodyTooLarge(maximumBytes: 10)])
  }

  @Test func `A body over the limit is refused while it is read`() throws {
    let application = TestApplication.echo(10)
    let server = try application.serve()
    let client = try TestClient(server)
    try client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n012345\r\n")
    // The body has no end, so the answer cannot wait for it.
    try client.send("5\r\n01234\r\n")
    let reply = try client.response()
    #expect(reply.status == 413)
    #expect(reply.body == "at most 10")
    #expect(reply.header("Date")?.hasSuffix(" GMT") == true)
    #expect(reply.closes)
    #expect(try client.rest() == "")
  }

  @Test func `A body of exactly the limit is accepted, and one byte more is refused`() throws {
    let server = try TestApplication.echo(10).serve()
    let client = try TestClient(server)
    try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789")
    #expect(try client.response().body == "POST / 0123456789")
    try client.send(
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n")
    #expect(try client.response().body == "POST / 0123456789")
    let other = try TestClient(server)
    try other.send(
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n0123456789a\r\n0\r\n\r\n")
    #expect(try other.response().status == 413)
  }

  @Test func `A large body arrives completely`() throws {
    let application = TestApplication(admit: { _ in .body(maximumBytes: 4 << 20) }) { request, responder in
      let sum = request.body.reduce(into: 0) { $0 = ($0 &* 31 &+ Int($1)) & 0xFFFF_FFFF }
      responder.respond(Response(status: 200, text: "\(request.body.count) \(sum)"))
    }
    let server = try application.serve()
    let client = try TestClient(server)
    let body = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
    let sum = body.reduce(into: 0) { $0 = ($0 &* 31 &+ Int($1)) & 0xFFFF_FFFF }
    try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.count)\r\n\r\n")
    try client.send(body)
    #expect(try client.response().body == "\(body.count) \(sum)")
  }

  @Test(arguments: [
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n300\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nX-Long: ",
  ])
  func `A slow request is cut off at its deadline, although bytes keep arriving`(_ start: String) throws {
    let application = TestApplication.echo()
    let server = try application.serve { $0.requestTimeout = .milliseconds(300) }
    let client = try TestClient(server)
    let begin = MonotonicInstant.now()
    try client.drip(start, every: .milliseconds(20))
    let reply = try client.response()
    #expect(reply.status == 408)
    #expect(reply.body == "too slow")
    #expect(reply.closes)
    #expect(try client.rest() == "")
    #expect(
      (Duration.milliseconds(290)..<Duration.seconds(3)).contains(
        MonotonicInstant.now().duration(since: begin)))
    #expect(application.rejections == [.tooSlow])
  }

  @Test func `The time of a slow request line counts from the accept`() throws {
    let server = try TestApplication.echo().serve { $0.requestTimeout = .milliseconds(300) }
    let client = try TestClient(server)
    let begin = MonotonicInstant.now()
    try client.drip("GET /", every: .milliseconds(20))
    #expect(try client.response().status == 408)
    #expect(try client.rest() == "")
    // The idle time is a minute.
    #expect(
      (Duration.milliseconds(290)..<Duration.seconds(5)).contains(
        MonotonicInstant.now().duration(since: begin)))
  }

  @Test func `The time of a connection's next request counts from its first byte`() throws {
    let server = try TestApplication.echo().serve { $0.requestTimeout = .milliseconds(300) }
    let client = try TestClient(server)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try client.response().status == 200)
    let begin = MonotonicInstant.now()
    try client.drip("GET /", every: .milliseconds(50))
    #expect(try client.response().status == 408)
    #expect(
      (Duration.milliseconds(290)..<Duration.seconds(5)).contains(
        MonotonicInstant.now().duration(since: begin)))
  }

  @Test func `An idle kept connection may be silent for longer than a request's time`() throws {
    let server = try TestApplication.echo().serve { $0.requestTimeout = .seconds(1) }
    let client = try TestClient(server)
    for pause in [Duration.milliseconds(2500), .zero] {
      try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try client.response().status == 200)
      #expect(!client.isReadable(within: pause))
    }
  }

  @Test func `A connection without any byte is closed silently after a request's time`() throws {
    let server = try TestApplication.echo().serve { $0.requestTimeout = .milliseconds(300) }
    let client = try TestClient(server)
    let begin = MonotonicInstant.now()
    #expect(try client.rest() == "")
    #expect(
      (Duration.milliseconds(290)..<Duration.seconds(5)).contains(
        MonotonicInstant.now().duration(since: begin)))
  }

  @Test func `An idle connection is closed silently after the idle time`() throws {
    let server = try TestApplication.echo().serve { $0.idleTimeout = .seconds(1) }
    let client = try TestClient(server)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    _ = try client.response()
    #expect(try client.rest() == "")
  }

  @Test(
    "A client that sends a partial request and then closes its side is not waited for",
    arguments: [
      "", "GET /half", "GET / HTTP/1.1\r\nHost:",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf",
      "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /half",
    ])
  func endOfInput(_ text: String) throws {
    let server = try TestApplication.echo().serve()
    let client = try TestClient(server)
    try client.send(text)
    client.finish()
    // Well before the request timeout and the idle timeout.
    let begin = MonotonicInstant.now()
    #expect(try client.rest().hasPrefix("HTTP/1.1 200 OK") == text.contains("\r\n\r\nGET"))
    #expect(MonotonicInstant.now().duration(since: begin) < .seconds(5))
  }

  @Test func `A client that closes its side after its request gets its answer, however late`() throws {
    let application = TestApplication()
    let server = try application.serve()
    let client = try TestClient(server)
    try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody")
    client.finish()
    let responder = try application.nextResponder()
    #expect(!client.isReadable(within: .milliseconds(1500)))
    responder.respond(Response(status: 200, text: "at last"))
    #expect(try client.response().body == "at last")
    #expect(try client.rest() == "")
  }

  @Test func `A request that the application holds has no deadline`() throws {
    let application = TestApplication()
    let server = try application.serve {
      $0.requestTimeout = .milliseconds(50)
      $0.idleTimeout = .milliseconds(50)
    }
    let client = try TestClient(server)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    let responder = try application.nextResponder()
    #expect(!client.isReadable(within: .milliseconds(1500)))
    responder.respond(Response(status: 200, text: "at last"))
    #expect(try client.response().body == "at last")
  }

  @Test func `One address gets at most its limit of connections`() throws {
    let server = try TestApplication.echo().serve { $0.connectionsPerAddress = 3 }
    var clients: [TestClient] = []
    for _ in 1...3 {
      let client = try TestClient(server)
      try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try client.response().status == 200)
      clients.append(client)
    }
    #expect(try TestClient(server).rest() == "")
    try clients[0].send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    #expect(try clients[0].response().status == 200)
    _ = try clients[0].rest()
    // The place is free once the server has cleaned up, which a client cannot see, so poll.
    let end = MonotonicInstant.now().advanced(by: .seconds(300))
    var isServed = false
    while !isServed && MonotonicInstant.now() < end {
      let client = try TestClient(server)
      isServed =
        (try? client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")) != nil && (try? client.response()) != nil
    }
    #expect(isServed)
  }

  @Test func `Header fields over their limit are refused`() throws {
    let application = TestApplication.echo()
    let server = try application.serve()
    let client = try TestClient(server)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\nX-Long: \(String(repeating: "a", count: 40_000))\r\n\r\n")
    #expect(try client.response().status == 431)
    #expect(application.seen.withLock { $0.heads.isEmpty })
  }
}
