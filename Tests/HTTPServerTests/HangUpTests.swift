// Clients that hang up while their request waits: libmicrohttpd does not watch suspended connections.

import Glibc
import HTTPServer
import Platform
import Testing

@Suite("Hang-ups") struct HangUpTests {
  /// Holds every request and answers it when its client hangs up.
  private final class Holder: Sendable {
    struct State {
      var responders: [Responder] = []
      var hangUps: [String] = []
    }

    let state = Monitor(State())

    var application: TestApplication {
      TestApplication { [state] request, responder in
        let path = request.head.path
        state.update { $0.responders.append(responder) }
        guard path != "/unwatched" else { return }
        responder.onHangUp { [weak responder] in
          responder?.respond(Response(status: 200, text: "early"))
          state.update { $0.hangUps.append(path) }
        }
      }
    }

    func waitFor<Result>(_ condition: (inout State) -> Result?) throws -> Result {
      let result = state.wait(until: .now().advanced(by: .seconds(300)), condition)
      return try #require(result)
    }

    /// The responder of the request with this number, once it has arrived.
    func responder(_ number: Int) throws -> Responder {
      try waitFor { $0.responders.count > number ? $0.responders[number] : nil }
    }
  }

  private static func waitUntil(_ server: Server, hasConnections count: Int) throws {
    let end = MonotonicInstant.now().advanced(by: .seconds(300))
    while server.load().connections != count {
      try #require(MonotonicInstant.now() < end, "\(server.load())")
      _ = poll(nil, 0, 2)
    }
  }

  private static let request = "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n"

  @Test(arguments: [false, true])
  func `A client that hangs up frees its place at once`(byReset: Bool) throws {
    let holder = Holder()
    let server = try holder.application.serve()
    for number in 0..<20 {
      var client: TestClient? = try TestClient(server)
      try client?.send(Self.request)
      _ = try holder.responder(number)
      if byReset { client?.reset() }
      client = nil
      _ = try holder.waitFor { $0.hangUps.count == number + 1 ? true : nil }
    }
    try Self.waitUntil(server, hasConnections: 0)
    server.stop(grace: .seconds(1))
  }

  @Test func `A client that hangs up before its request is handled is detected`() throws {
    let holder = Holder()
    let server = try holder.application.serve()
    for _ in 0..<50 {
      let client = try TestClient(server)
      try client.send(Self.request)
    }
    _ = try holder.waitFor { $0.hangUps.count == 50 ? true : nil }
    try Self.waitUntil(server, hasConnections: 0)
    server.stop(grace: .seconds(1))
  }

  @Test func `A client that closes only its side still gets its answer`() throws {
    let holder = Holder()
    let server = try holder.application.serve()
    let client = try TestClient(server)
    try client.send(Self.request)
    _ = try holder.responder(0)
    #expect(!client.isReadable(within: .milliseconds(50)))
    client.finish()
    #expect(try client.response().body == "early")
    #expect(try client.rest() == "")
    server.stop(grace: .seconds(1))
  }

  @Test func `A watch ends with its request and does not affect the next one on the connection`() throws {
    let holder = Holder()
    let server = try holder.application.serve()
    let client = try TestClient(server)
    try client.send(Self.request)
    try holder.responder(0).respond(Response(status: 200, text: "first"))
    #expect(try client.response().body == "first")
    try client.send("GET /unwatched HTTP/1.1\r\nHost: x\r\n\r\n")
    let second = try holder.responder(1)
    client.finish()
    #expect(!client.isReadable(within: .milliseconds(300)))
    second.respond(Response(status: 200, text: "second"))
    #expect(try client.response().body == "second")
    #expect(holder.state.withLock { $0.hangUps } == [])
    server.stop(grace: .seconds(1))
  }

  @Test("A request that is pipelined after one that waits is not served, and the connection ends")
  func pipelined() throws {
    let holder = Holder()
    let server = try holder.application.serve()
    let client = try TestClient(server)
    try client.send(Self.request + "GET /unwatched HTTP/1.1\r\nHost: x\r\n\r\n")
    try holder.responder(0).respond(Response(status: 200, text: "first"))
    let reply = try client.response()
    #expect(reply.body == "first")
    #expect(reply.closes)
    #expect(try client.rest() == "")
    #expect(holder.state.withLock { $0.responders.count } == 1)
    server.stop(grace: .seconds(1))
  }

  @Test func `Concurrent hang-ups, answers and a stop end every request once`() throws {
    let holder = Holder()
    let server = try holder.application.serve { $0.connectionsPerAddress = 1000 }
    var clients: [TestClient] = []
    for _ in 0..<200 {
      let client = try TestClient(server)
      try client.send(Self.request)
      clients.append(client)
    }
    _ = try holder.waitFor { $0.responders.count == 200 ? true : nil }
    let answers = try WorkerThread(name: "answers") {
      for responder in holder.state.withLock({ $0.responders }) {
        responder.respond(Response(status: 200, text: "late"))
      }
    }
    while clients.count > 100 { clients.removeLast().reset() }
    answers.join()
    for client in clients { #expect(try client.response().status == 200) }
    server.stop(grace: .seconds(1))
  }
}
