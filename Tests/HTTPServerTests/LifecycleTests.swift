import Glibc
import HTTPServer
import Platform
import Testing

@Suite("Start and stop") struct LifecycleTests {
  @Test func `A port in use is reported as such`() throws {
    let first = try TestApplication.echo().serve()
    #expect(throws: ServerError.system(SystemError(code: EADDRINUSE, operation: "bind"))) {
      try TestApplication.echo().serve { $0.port = first.port }
    }
    first.stop(grace: .zero)
    let second = try TestApplication.echo().serve { $0.port = first.port }
    #expect(second.port == first.port)
    second.stop(grace: .zero)
  }

  @Test func `An address that is not numeric, or not of this machine, is reported as such`() throws {
    #expect(throws: ServerError.invalidAddress("localhost")) {
      try TestApplication.echo().serve { $0.address = "localhost" }
    }
    #expect(throws: ServerError.system(SystemError(code: EADDRNOTAVAIL, operation: "bind"))) {
      try TestApplication.echo().serve { $0.address = "192.0.2.1" }
    }
  }

  @Test(.enabled(if: hasIPv6, "this machine has no IPv6"))
  func `The unspecified IPv6 address also accepts IPv4, and names its peers as IPv4`() throws {
    let application = TestApplication.echo()
    let server = try application.serve { $0.address = "::" }
    let client = try TestClient(server)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try client.response().status == 200)
    #expect(application.seen.withLock { $0.heads.first?.remoteAddress } == "127.0.0.1")
    server.stop(grace: .seconds(1))
  }

  @Test func `Stopping waits for requests in flight`() throws {
    let application = TestApplication()
    let server = try application.serve()
    let client = try TestClient(server)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    let responder = try application.nextResponder()
    let stopper = try WorkerThread(name: "stop") { server.stop(grace: .seconds(10)) }
    try waitUntilClosed(server)
    responder.respond(Response(status: 200, text: "done"))
    let reply = try client.response()
    #expect(reply.status == 200)
    #expect(reply.closes)
    stopper.join()
    #expect(application.rejections.isEmpty)
  }

  @Test func `Stopping answers the requests that the application does not answer in time`() throws {
    let application = TestApplication()
    let server = try application.serve()
    let clients = try (1...50).map { _ in try TestClient(server) }
    for client in clients { try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
    let responders = try clients.map { _ in try application.nextResponder() }
    server.stop(grace: .milliseconds(50))
    for client in clients {
      let reply = try client.response()
      #expect(reply.status == 503)
      #expect(reply.closes)
      #expect(try client.rest() == "")
    }
    for responder in responders { responder.respond(Response(status: 200, text: "too late")) }
    #expect(application.rejections.count == 50)
  }

  @Test func `A request on an open connection is still answered while the server stops`() throws {
    let application = TestApplication()
    let server = try application.serve()
    let held = try TestClient(server)
    try held.send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
    let responder = try application.nextResponder()
    let other = try TestClient(server)
    try other.send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n")
    try application.nextResponder().respond(Response(status: 200, text: "1"))
    #expect(!(try other.response().closes))
    let stopper = try WorkerThread(name: "stop") { server.stop(grace: .seconds(10)) }
    try waitUntilClosed(server)
    try other.send("GET /2 HTTP/1.1\r\nHost: x\r\n\r\n")
    try application.nextResponder().respond(Response(status: 200, text: "2"))
    let reply = try other.response()
    #expect(reply.body == "2")
    #expect(reply.closes)
    responder.respond(Response(status: 200, text: "held"))
    #expect(try held.response().body == "held")
    stopper.join()
  }

  @Test("Stopping under load neither hangs nor aborts, and the second call waits for the first")
  func stopUnderLoad() throws {
    for _ in 1...10 {
      let threads = Monitor<[WorkerThread]>([])
      let application = TestApplication { request, responder in
        let thread = try? WorkerThread(name: "answer") { responder.respond(TestApplication.echo(request)) }
        threads.withLock { $0 += [thread].compactMap { $0 } }
      }
      let server = try application.serve()
      let clients = try (1...30).map { _ in try TestClient(server) }
      for client in clients {
        try client.send(String(repeating: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", count: 10))
      }
      let other = try WorkerThread(name: "stop") { server.stop(grace: .zero) }
      server.stop(grace: .zero)
      #expect(server.load().connections == 0, "whichever call was the second has waited")
      other.join()
      for client in clients { _ = try client.rest() }
      threads.withLock { $0 }.forEach { $0.join() }
    }
  }

  @Test func `A stopped server is released completely`() throws {
    weak var kept: TestApplication?
    do {
      let application = TestApplication()
      kept = application
      let server = try application.serve { $0.requestTimeout = .milliseconds(100) }
      let idle = try TestClient(server)
      let cut = try TestClient(server)
      try cut.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
      #expect(try cut.response().status == 408)
      let suspended = try TestClient(server)
      try suspended.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      let responder = try application.nextResponder()
      let reading = try TestClient(server)
      try reading.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
      _ = try application.waitFor { $0.heads.count == 3 ? true : nil }
      server.stop(grace: .zero)
      #expect(try suspended.response().status == 503)
      _ = try (idle.rest(), reading.rest())
      withExtendedLifetime(responder) {}
    }
    #expect(kept == nil)
  }

  /// Waits until the server accepts no more connections.
  private func waitUntilClosed(_ server: Server) throws {
    let end = MonotonicInstant.now().advanced(by: .seconds(300))
    while MonotonicInstant.now() < end {
      do { _ = try TestClient(server) } catch { return }
    }
    Issue.record("the server still takes connections")
  }
}

private let hasIPv6: Bool = {
  let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
  guard descriptor >= 0 else { return false }
  close(descriptor)
  return true
}()
