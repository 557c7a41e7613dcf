// Idle connections: they must not block others, and the longest idle ones make room.

import Platform
import Testing

@testable import HTTPServer

@Suite("Idle connections") struct EvictionTests {
  private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n" }
  private static let long: Duration = .seconds(120)

  /// 40 connections, of which 8 are reserved: idle ones are closed above 36, regardless of their age above
  /// 38.
  private static func configure(_ configuration: inout ServerConfiguration) {
    configuration.connections = 40
    configuration.reservedConnections = 8
    configuration.requestTimeout = long
    configuration.evictionGrace = long
  }

  /// Answers every request except `/held`.
  private static func application(_ held: Monitor<[Responder]>) -> TestApplication {
    TestApplication { request, responder in
      guard !request.head.path.hasPrefix("/held") else { return held.withLock { $0.append(responder) } }
      responder.respond(TestApplication.echo(request))
    }
  }

  private static func waitFor(_ server: Server, connections: Int) throws {
    let end = MonotonicInstant.now().advanced(by: .seconds(300))
    while server.load().connections != connections {
      try #require(MonotonicInstant.now() < end, "\(server.load().connections) connections")
    }
  }

  @Test(arguments: [[], ["127.0.0.0/8"]])
  func `Idle connections alone do not cause refusals`(proxies: [String]) throws {
    let server = try TestApplication.echo().serve {
      Self.configure(&$0)
      $0.connectionsPerAddress = 9
      $0.unlimitedPeers = proxies.compactMap { AddressPrefix($0) }
    }
    // More than the unreserved number, fewer than the number at which one is closed. Some have never sent
    // anything, some were kept open after a request, some have sent a part of one.
    var idle: [TestClient] = []
    for number in 0..<34 {
      let client = try TestClient(server, source: 10 + UInt32(number) / 9)
      if number % 3 == 1 {
        try client.send(Self.get("/"))
        #expect(try client.response().status == 200)
      } else if number % 3 == 2 {
        try client.send("GET / HTTP/1.1\r\nHost:")
      }
      idle.append(client)
    }
    try Self.waitFor(server, connections: 34)
    for path in ["/ordinary", "/reserved"] {
      let client = try TestClient(server)
      try client.send(Self.get(path))
      #expect(try client.response().status == 200)
      idle.append(client)
    }
    // None of them was closed for the request.
    for client in idle { #expect(!client.isReadable(within: .zero)) }
    server.stop(grace: .seconds(1))
  }

  @Test func `On a full server the longest idle connection is closed for a new one`() throws {
    let server = try TestApplication.echo().serve {
      Self.configure(&$0)
      // With two threads the order of accepting could differ from the order of arrival.
      $0.threads = 1
      $0.unlimitedPeers = ["127.0.0.0/8"].compactMap { AddressPrefix($0) }
    }
    var idle: [TestClient] = []
    for _ in 0..<38 { idle.append(try TestClient(server)) }
    try Self.waitFor(server, connections: 38)
    for number in 0..<10 {
      let client = try TestClient(server)
      try client.send(Self.get(number % 2 == 0 ? "/ordinary" : "/reserved"))
      #expect(try client.response().status == 200)
      // Each is one over the limit, and the longest idle one is closed for it.
      #expect(try idle[number].rest() == "")
      idle.append(client)
    }
    for client in idle.dropFirst(10) { #expect(!client.isReadable(within: .zero)) }
    server.stop(grace: .seconds(1))
  }

  @Test("A connection that was just accepted is not closed while requests hold all other places")
  func justAccepted() throws {
    let held = Monitor<[Responder]>([])
    let application = Self.application(held)
    let server = try application.serve(Self.configure)
    var clients: [TestClient] = []
    for number in 0..<36 {
      let client = try TestClient(server)
      // The last ones use the reserve, and their bodies do not arrive.
      let body = "POST /reserved HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n"
      try client.send(number < 32 ? Self.get("/held") : body)
      clients.append(client)
      _ = try application.waitFor { $0.heads.count == number + 1 ? true : nil }
    }
    let late = try TestClient(server)
    // The watcher looks for room every 10 ms while connections are scarce.
    #expect(!late.isReadable(within: .milliseconds(300)))
    try late.send(Self.get("/reserved"))
    #expect(try late.response().status == 200)
    // Requests in progress are never closed, and all of them count.
    let refused = try TestClient(server)
    try refused.send(Self.get("/ordinary"))
    #expect(try refused.response().body == "crowded")
    held.withLock { $0.removeAll() }
    for client in clients.prefix(32) { #expect(try client.response().body == "abandoned") }
    // Their connections are kept open, and no longer count.
    let served = try TestClient(server)
    try served.send(Self.get("/ordinary"))
    #expect(try served.response().status == 200)
    server.stop(grace: .seconds(1))
  }

  @Test("A connection that was idle for the grace time is closed while the last places are free")
  func grace() throws {
    let server = try TestApplication.echo().serve {
      Self.configure(&$0)
      $0.evictionGrace = .milliseconds(50)
    }
    var idle: [TestClient] = []
    for _ in 0..<37 { idle.append(try TestClient(server)) }
    #expect(try idle[0].rest() == "")
    try Self.waitFor(server, connections: 36)
    server.stop(grace: .seconds(1))
  }

  @Test func `Slow bodies that take the reserve are cut for a new request, the oldest first`() throws {
    let application = Self.application(Monitor([]))
    let server = try application.serve {
      Self.configure(&$0)
      $0.threads = 1
      $0.unlimitedPeers = ["127.0.0.0/8"].compactMap { AddressPrefix($0) }
    }
    var slow: [TestClient] = []
    for number in 0..<40 {
      let client = try TestClient(server)
      try client.send("POST /reserved HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf")
      slow.append(client)
      _ = try application.waitFor { $0.heads.count == number + 1 ? true : nil }
    }
    // Above 38 connections the oldest are cut.
    for client in slow.prefix(2) { #expect(try client.response().body == "crowded") }
    let client = try TestClient(server)
    try client.send(Self.get("/reserved"))
    #expect(try client.response().status == 200)
    for client in slow.suffix(37) { #expect(!client.isReadable(within: .zero)) }
    server.stop(grace: .seconds(1))
  }

  @Test func `A connection with an unread request is not closed for others`() throws {
    let (entered, left) = (Monitor(false), Monitor(false))
    let application = TestApplication { request, responder in
      if request.head.path == "/block" {
        entered.update { $0 = true }
        _ = left.wait { $0 ? true : nil }
      }
      responder.respond(TestApplication.echo(request))
    }
    let server = try application.serve { $0.threads = 1 }
    let (blocking, idle) = (try TestClient(server), try TestClient(server))
    let asking = try (0..<5).map { _ in try TestClient(server) }
    for client in asking {
      try client.send(Self.get("/before"))
      #expect(try client.response().status == 200)
    }
    try Self.waitFor(server, connections: 7)
    try blocking.send(Self.get("/block"))
    _ = entered.wait { $0 ? true : nil }
    // The only thread that could read these requests is in the handler.
    for client in asking { try client.send(Self.get("/unread")) }
    let end = MonotonicInstant.now().advanced(by: .seconds(300))
    let connections = server.core.connections
    while connections.count(where: { SocketInput.isUnread(on: $0.state.withLock(\.descriptor)) }) < 5 {
      try #require(MonotonicInstant.now() < end)
    }
    for connection in connections { connection.evict() }
    left.update { $0 = true }
    #expect(try blocking.response().status == 200)
    for client in asking { #expect(try client.response().body == "GET /unread ") }
    #expect(try idle.rest() == "")
    server.stop(grace: .seconds(1))
  }

  @Test func `Every end of a request reduces the count of requests under way`() throws {
    let application = TestApplication(
      admit: { $0.path == "/refused" ? .answer(Response(status: 404)) : .body(maximumBytes: 4) }
    ) { request, responder in
      if request.head.path != "/dropped" { responder.respond(TestApplication.echo(request)) }
    }
    let server = try application.serve()
    let post = "POST / HTTP/1.1\r\nHost: x\r\n"
    let texts = [
      Self.get("/"), Self.get("/refused"), Self.get("/dropped"), "GET / HTTP/1.1\r\nHost: x\r\n a: b\r\n\r\n",
      post + "Content-Length: 9\r\n\r\n", post + "Transfer-Encoding: chunked\r\n\r\n9\r\n012345678\r\n",
      post + "Content-Length: 3\r\n\r\nab", Self.get("/") + Self.get("/"), "GET /half",
    ]
    let clients = try texts.map { text in
      let client = try TestClient(server)
      try client.send(text)
      client.finish()
      return client
    }
    for client in clients { _ = try client.rest() }
    try Self.waitFor(server, connections: 0)
    #expect(server.core.requests.now == 0)
    server.stop(grace: .seconds(1))
  }

  // MARK: The rule

  private static func at(_ milliseconds: Int64) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
  }

  @Test func `The longest idle are closed first, and young ones only for the last places`() {
    let eviction = Eviction(kept: 10, urgent: 12, grace: .seconds(1))
    var generator = SeededGenerator(seed: 7)
    let idle = (0..<9).shuffled(using: &generator).map { (since: Self.at(Int64($0) * 100), element: $0) }
    func chosen(_ connections: Int, _ now: Int64) -> [Int] {
      eviction.chosen(from: idle, connections: connections, at: Self.at(now))
    }
    #expect(chosen(10, 9000) == [])
    #expect(chosen(13, 9000) == [0, 1, 2])
    #expect(chosen(12, 999) == [])
    #expect(chosen(12, 1000) == [0])
    #expect(chosen(13, 0) == [0])
    #expect(chosen(14, 1000) == [0, 1])
    #expect(chosen(100, 9000) == Array(0..<9))
    #expect(eviction.chosen(from: [], bodies: idle, connections: 12, at: Self.at(9000)) == [])
    #expect(eviction.chosen(from: [], bodies: idle, connections: 14, at: Self.at(9000)) == [0, 1])
    // A client that has just connected outlives an older body, which outlives one that was idle for the
    // grace.
    let mixed = [(since: Self.at(100), element: 100), (since: Self.at(8500), element: 101)]
    let body = [(since: Self.at(50), element: 102)]
    #expect(eviction.chosen(from: mixed, bodies: body, connections: 13, at: Self.at(9000)) == [100])
    #expect(eviction.chosen(from: mixed, bodies: body, connections: 14, at: Self.at(9000)) == [100, 102])
    #expect(
      eviction.chosen(from: mixed, bodies: body, connections: 15, at: Self.at(9000)) == [100, 102, 101])
  }

  @Test func `With any limits idle connections are closed before the last place is used`() {
    for connections in [2, 3, 10, 64, 100, 2000, 100_000] {
      for reserve in Set([0, 1, 2, 3, connections / 10, connections / 2, connections - 1]) {
        var settings = ServerConfiguration(address: "127.0.0.1")
        (settings.connections, settings.reservedConnections) = (connections, reserve)
        let eviction = settings.eviction
        #expect((1..<connections).contains(eviction.kept))
        #expect(eviction.kept <= eviction.urgent)
        #expect(reserve == 0 ? eviction.urgent == connections : eviction.urgent < connections)
      }
    }
  }
}
