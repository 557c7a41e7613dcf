// Reserved connections, and the definition of one client.

import Formats
import Glibc
import Platform
import Testing

@testable import HTTPServer

@Suite("Connections") struct ReserveTests {
  private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n" }

  @Test func `The last connections serve only the requests that may use the reserve`() throws {
    let held = Monitor<[Responder]>([])
    let application = TestApplication { request, responder in
      guard request.head.path != "/held" else { return held.withLock { $0.append(responder) } }
      responder.respond(TestApplication.echo(request))
    }
    let server = try application.serve {
      $0.connections = 20
      $0.reservedConnections = 4
    }
    var clients: [TestClient] = []
    for _ in 0..<16 {
      let client = try TestClient(server)
      try client.send(Self.get("/held"))
      clients.append(client)
    }
    _ = try application.waitFor { $0.heads.count == 16 ? true : nil }
    let ordinary = try TestClient(server)
    try ordinary.send(Self.get("/ordinary"))
    let reply = try ordinary.response()
    #expect(reply.status == 503)
    #expect(reply.body == "crowded")
    #expect(reply.closes)
    #expect(try ordinary.rest() == "")
    let reserved = try TestClient(server)
    try reserved.send(Self.get("/reserved"))
    #expect(try reserved.response().status == 200)
    held.withLock { $0.removeAll() }
    for client in clients { #expect(try client.response().body == "abandoned") }
  }

  @Test func `Silent clients are closed for new ones`() throws {
    let server = try TestApplication.echo().serve {
      $0.connections = 20
      $0.reservedConnections = 4
      $0.requestTimeout = .minutes(2)
    }
    var silent: [TestClient] = []
    // More than the limit; each waits in the backlog until there is room.
    for _ in 0..<100 { silent.append(try TestClient(server)) }
    let begin = MonotonicInstant.now()
    let client = try TestClient(server)
    try client.send(Self.get("/reserved"))
    #expect(try client.response().status == 200)
    #expect(MonotonicInstant.now().duration(since: begin) < .seconds(8))
    #expect(server.load().connectionsMax == 20)
  }

  @Test func `Connections that were accepted and never served free their places`() throws {
    let server = try TestApplication.echo().serve {
      $0.connections = 2
      $0.requestTimeout = .milliseconds(200)
    }
    // Simulates connections that the library had no memory to serve, with descriptors that are not in use.
    #expect(server.core.admit(1_000_001, "127.0.0.1"))
    #expect(server.core.admit(1_000_002, "127.0.0.1"))
    // The acceptor may have found a place before they were counted, so the first client proves nothing.
    for _ in 1...2 {
      let client = try TestClient(server)
      try client.send(Self.get("/late"))
      #expect(try client.response().status == 200)
    }
  }

  /// Whether this machine has IPv6.
  private static var hasIPv6: Bool {
    let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
    if descriptor >= 0 { close(descriptor) }
    return descriptor >= 0
  }

  @Test(.enabled(if: hasIPv6))
  func `A server on all addresses counts IPv4 clients one by one, not as one network`() throws {
    let server = try TestApplication.echo().serve {
      $0.address = "::"
      $0.connectionsPerAddress = 2
    }
    func isServed(from source: UInt32) throws -> (Bool, TestClient) {
      let client = try TestClient(server, source: source)
      // Sending fails if the server has already closed the connection.
      try? client.send(Self.get("/"))
      return ((try? client.response())?.status == 200, client)
    }
    let (first, second) = (try isServed(from: 1), try isServed(from: 1))
    #expect(first.0)
    #expect(second.0)
    #expect(try !isServed(from: 1).0)
    #expect(try isServed(from: 2).0)
  }

  @Test func `A proxy's connections are not limited as those of one client`() throws {
    let server = try TestApplication.echo().serve {
      $0.connectionsPerAddress = 2
      $0.unlimitedPeers = [AddressPrefix("127.0.0.1")].compactMap(\.self)
    }
    var clients: [TestClient] = []
    for _ in 1...5 {
      let client = try TestClient(server)
      try client.send(Self.get("/"))
      #expect(try client.response().status == 200)
      clients.append(client)
    }
  }

  /// The group of an address, computed as for a connection.
  private static func group(_ text: String) throws -> AddressGroup {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    try #require(unsafe inet_pton(AF_INET6, text, &address.sin6_addr) == 1)
    let peer = unsafe withUnsafeBytes(of: &address) { bytes in
      unsafe bytes.withMemoryRebound(to: sockaddr.self) { unsafe PeerAddress.text($0.baseAddress) }
    }
    return AddressGroup(peer)
  }

  @Test func `An IPv6 /64 counts as one client, for connections and for bodies`() throws {
    let (one, other) = (try Self.group("2001:db8::1"), try Self.group("2001:db8::ffff:ffff:ffff:ffff"))
    let neighbour = try Self.group("2001:db8:0:1::1")
    #expect(one == other)
    #expect(one != neighbour)
    #expect(try Self.group("::ffff:192.0.2.1") == AddressGroup("192.0.2.1"))
    #expect(try Self.group("::ffff:192.0.2.1") != Self.group("::ffff:192.0.2.2"))
    let budget = BodyBudget(total: 1000)
    let first = BodyGrant(budget, address: one)
    #expect(first.grow(to: 400))
    #expect(!budget.hasRoom(for: 200, from: other))
    #expect(budget.hasRoom(for: 200, from: neighbour))
    let second = BodyGrant(budget, address: other)
    #expect(!second.grow(to: 200))
  }
}
