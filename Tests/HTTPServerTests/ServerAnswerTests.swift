import HTTPServer
import Platform
import Testing

@Suite("Answers") struct ServerAnswerTests {
  @Test func `A request is answered on the spot`() throws {
    let server = try TestApplication.echo().serve()
    let client = try TestClient(server)
    try client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
    let reply = try client.response()
    #expect(reply.status == 200)
    #expect(reply.body == "POST /a hello")
    #expect(reply.header("Content-Type") == "text/plain; charset=utf-8")
    #expect(reply.header("Date") != nil)
    #expect(!reply.closes)
  }

  @Test func `A request is answered later, from another thread`() throws {
    let application = TestApplication()
    let server = try application.serve()
    let client = try TestClient(server)
    for turn in 1...3 {
      try client.send("GET /\(turn) HTTP/1.1\r\nHost: x\r\n\r\n")
      let responder = try application.nextResponder()
      let thread = try WorkerThread(name: "answer") {
        responder.respond(Response(status: 202, text: "\(turn)"))
      }
      let reply = try client.response()
      thread.join()
      #expect(reply.status == 202)
      #expect(reply.body == "\(turn)")
    }
  }

  @Test(
    "Requests sent after each answer share a connection; of pipelined ones only the first is answered",
    arguments: [true, false])
  func pipelining(_ isLater: Bool) throws {
    let threads = Monitor<[WorkerThread]>([])
    let application = TestApplication { request, responder in
      guard isLater else { return responder.respond(TestApplication.echo(request)) }
      let thread = try? WorkerThread(name: "answer") { responder.respond(TestApplication.echo(request)) }
      threads.withLock { $0 += [thread].compactMap { $0 } }
    }
    let server = try application.serve()
    let requests = (1...50).map { "POST /\($0) HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok" }
    let sequential = try TestClient(server)
    for (number, request) in requests.enumerated() {
      try sequential.send(request)
      let reply = try sequential.response()
      #expect(reply.body == "POST /\(number + 1) ok")
      #expect(!reply.closes)
    }
    let pipelined = try TestClient(server)
    try pipelined.send(requests.joined())
    let reply = try pipelined.response()
    #expect(reply.body == "POST /1 ok")
    #expect(reply.closes)
    #expect(try pipelined.rest() == "")
    #expect(application.seen.withLock { $0.heads.count } == requests.count + 1)
    server.stop(grace: .seconds(1))
    threads.withLock { $0 }.forEach { $0.join() }
  }

  @Test func `Only the first answer counts, and a late one does not reach the next request`() throws {
    let application = TestApplication()
    let server = try application.serve()
    let client = try TestClient(server)
    try client.send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n")
    let first = try application.nextResponder()
    first.respond(Response(status: 200, text: "first"))
    first.respond(Response(status: 200, text: "second"))
    #expect(try client.response().body == "first")
    try client.send("GET /2 HTTP/1.1\r\nHost: x\r\n\r\n")
    let second = try application.nextResponder()
    first.respond(Response(status: 200, text: "third"))
    second.respond(Response(status: 200, text: "right"))
    #expect(try client.response().body == "right")
  }

  @Test(arguments: [true, false])
  func `A responder that is dropped still answers`(_ isLater: Bool) throws {
    let application = isLater ? TestApplication() : TestApplication { _, _ in }
    let server = try application.serve()
    let client = try TestClient(server)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    if isLater { _ = try application.nextResponder() }
    let reply = try client.response()
    #expect(reply.status == 500)
    #expect(reply.body == "abandoned")
    #expect(application.rejections == [.abandoned])
  }

  @Test func `HEAD gets the header fields of GET and no body`() throws {
    let application = TestApplication { _, responder in responder.respond(Response(status: 200, text: "body"))
    }
    let server = try application.serve()
    let client = try TestClient(server)
    for method in ["HEAD", "GET"] {
      try client.send("\(method) / HTTP/1.1\r\nHost: x\r\n\r\n")
      let reply = try client.response(toHead: method == "HEAD")
      #expect(reply.status == 200)
      #expect(reply.header("Content-Length") == "4")
      #expect(reply.body == (method == "HEAD" ? "" : "body"))
    }
  }

  @Test("Header fields that cannot be sent are dropped and logged, and a status that cannot be sent is 500")
  func unsendable() throws {
    let application = TestApplication { _, responder in
      let fields = [
        ("X-Good", "yes"), ("X-Split", "a\r\nX-Evil: 1"), ("X Space", "1"), ("X-Nul", "a\0b"),
        ("Content-Length", "9"),
        ("Transfer-Encoding", "chunked"), ("X-Empty", ""),
      ]
      responder.respond(Response(status: 99, headers: fields, body: []))
    }
    let server = try application.serve()
    let client = try TestClient(server)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    let reply = try client.response()
    #expect(reply.status == 500)
    #expect(reply.header("X-Good") == "yes")
    #expect(reply.header("Content-Length") == "0")
    #expect(!reply.headers.contains { $0.contains("Evil") || $0.contains("Nul") || $0.contains("chunked") })
    #expect(application.seen.withLock { $0.log.count } == 7)
  }

  @Test(
    "An early answer drains a short body, and closes the connection before a long one")
  func answerWithoutBody() throws {
    let application = TestApplication(admit: { _ in .answer(Response(status: 404, text: "no")) }, handle: nil)
    let server = try application.serve { $0.discardedBodyBytesMax = 10 }
    let client = try TestClient(server)
    for method in ["GET", "POST", "PATCH", "DELETE"] {
      try client.send("\(method) / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789")
      let reply = try client.response()
      #expect(reply.status == 404)
      #expect(!reply.closes)
    }
    // A client that asks first gets the refusal, and no 100.
    let asking = try TestClient(server)
    try asking.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n")
    let refusal = try asking.response()
    #expect(refusal.status == 404)
    #expect(refusal.closes)
    let smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
    for (method, framing) in [
      ("GET", "Content-Length: 36"), ("POST", "Content-Length: 36"), ("PATCH", "Transfer-Encoding: chunked"),
    ] {
      let other = try TestClient(server)
      try other.send("\(method) / HTTP/1.1\r\nHost: x\r\n\(framing)\r\n\r\n\(smuggled)")
      let reply = try other.response()
      #expect(reply.status == 404)
      #expect(reply.closes)
      #expect(try other.rest() == "")
    }
    #expect(!application.seen.withLock { $0.heads.contains { $0.target == "/smuggled" } })
  }

  @Test func `A client with Expect: 100-continue learns whether to send its body`() throws {
    let server = try TestApplication.echo(10).serve()
    let client = try TestClient(server)
    try client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    #expect(try client.response().status == 100)
    try client.send("ok")
    #expect(try client.response().body == "POST / ok")
    try client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n")
    #expect(try client.response().status == 413)
  }

  @Test func `A client that hangs up while its request is handled affects no other`() throws {
    let application = TestApplication()
    let server = try application.serve()
    var gone: [Responder] = []
    for _ in 1...20 {
      let client = try TestClient(server)
      try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      gone.append(try application.nextResponder())
    }
    for responder in gone { responder.respond(Response(status: 200, text: "late")) }
    let client = try TestClient(server)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    try application.nextResponder().respond(Response(status: 200, text: "here"))
    #expect(try client.response().body == "here")
  }

  @Test("Hundreds of requests at once are answered by several threads, each with its own answer")
  func crowd() throws {
    let application = TestApplication()
    let server = try application.serve()
    let isDone = Monitor(false)
    let workers = try (1...4).map { number in
      try WorkerThread(name: "worker \(number)") {
        while true {
          let next = application.seen.wait { seen -> Responder?? in
            if let responder = seen.responders.popLast() { return responder }
            return isDone.withLock { $0 } ? .some(nil) : nil
          }
          guard case .some(.some(let responder)) = next else { return }
          responder.respond(Response(status: 200, text: "answer"))
        }
      }
    }
    let clients = try (1...150).map { _ in try TestClient(server) }
    for turn in 1...5 {
      for (number, client) in clients.enumerated() {
        try client.send("POST /\(turn)/\(number) HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
      }
      for client in clients { #expect(try client.response().body == "answer") }
    }
    #expect(application.seen.withLock { $0.heads.count } == 750)
    isDone.update { $0 = true }
    application.seen.update { _ in }
    workers.forEach { $0.join() }
  }
}
