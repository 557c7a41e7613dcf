// The limits on waiting requests: per context, per client, in total.

import Domain
import Formats
import HTTPServer
import Platform
import Store
import Testing

@testable import Config
@testable import Daemon
@testable import Service

@Suite("Limits of long polls") struct LongPollLimitTests {
  /// A listener and its clients.
  private final class Bed {
    let bench: Bench
    let server: Server

    init(_ limits: Configuration.Limits) throws {
      bench = try Bench([Bench.app()], longPolls: limits, isStarted: false)
      try bench.startHousekeeping()
      server = try bench.serve()
    }

    deinit {
      bench.checkoutPolls.answerAll()
      server.stop(grace: .seconds(5))
    }

    /// Sends a request through a trusted proxy, for a client behind it.
    func ask(_ id: ContextID, from client: String) throws -> RawClient {
      let wire = try RawClient(port: server.port)
      try wire.send(
        "GET /v1/shop/contexts/\(id)?wait=30 HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: \(client)\r\n\r\n")
      return wire
    }

    /// Sends a request, and waits until it is a waiting long poll.
    func wait(_ id: ContextID, from client: String) throws -> RawClient {
      let before = bench.checkoutPolls.waitingCount
      let wire = try ask(id, from: client)
      try bench.waitUntil { bench.checkoutPolls.waitingCount > before }
      return wire
    }
  }

  /// Whether the answer came at once, with `Retry-After`.
  private static func isLimited(_ client: RawClient) throws -> Bool {
    let reply = try client.reply()
    #expect(reply.status == 200)
    #expect(try JSONValue(parsing: reply.body)["state"] == "open")
    return reply.header("Retry-After") == "\(CheckoutPolls.retryAfterSeconds)"
  }

  @Test func `A poll beyond a context's limit is answered at once, another context's waits`() throws {
    let bed = try Bed(.init(longPollsPerContext: 2))
    let (id, other) = (try bed.bench.post(1), try bed.bench.post(2))
    var waiting = try (1...2).map { try bed.wait(id, from: "192.0.2.\($0)") }
    #expect(try Self.isLimited(bed.ask(id, from: "192.0.2.3")))
    waiting.append(try bed.wait(other, from: "192.0.2.3"))
    #expect(bed.bench.checkoutPolls.waitingCount == 3)
    waiting.removeFirst()
    try bed.bench.waitUntil { bed.bench.checkoutPolls.waitingCount == 2 }
    waiting.append(try bed.wait(id, from: "192.0.2.3"))
    #expect(bed.bench.metrics.longPolls.snapshot()[LabelValues(first: "limited")] == 1)
  }

  @Test func `One client behind the proxy has its own limit: an IPv4 address or an IPv6 /64`() throws {
    let bed = try Bed(.init(longPollsPerAddress: 3))
    let ids = try (1...8).map { try bed.bench.post($0) }
    var waiting = try (0..<3).map { try bed.wait(ids[$0], from: "2001:db8::\($0)") }
    #expect(try Self.isLimited(bed.ask(ids[3], from: "2001:db8::ffff:1")))
    waiting.append(try bed.wait(ids[4], from: "2001:db8:0:1::1"))
    waiting += try (5..<8).map { try bed.wait(ids[$0], from: "::ffff:192.0.2.1") }
    #expect(try Self.isLimited(bed.ask(ids[3], from: "192.0.2.1")))
    waiting.removeAll()
    try bed.bench.waitUntil { bed.bench.checkoutPolls.waitingCount == 0 }
    waiting.append(try bed.wait(ids[3], from: "192.0.2.1"))
  }

  @Test func `All polls together use at most their share of the connections`() throws {
    let bed = try Bed(.init(longPolls: 3))
    let ids = try (1...4).map { try bed.bench.post($0) }
    let waiting = try (0..<3).map { try bed.wait(ids[$0], from: "192.0.2.\($0)") }
    #expect(try Self.isLimited(bed.ask(ids[3], from: "192.0.2.9")))
    #expect(waiting.allSatisfy { !$0.hasNews })
  }

  @Test func `By default polls may use eight tenths, and webhooks keep one tenth`() throws {
    let limits = try ConfigurationSamples.read(
      ConfigurationSamples.text(root: "limits: { connections: 1000 },")
    ).configuration.limits
    #expect(limits.longPolls == 800)
    #expect(limits.webhookConnections == 100)
    #expect(limits.longPollsPerContext == 4)
    #expect(limits.longPollsPerAddress == 32)
  }
}
