// Thousands of misbehaving clients at once against the real program, while a good client is served. Memory
// and descriptors are watched throughout (R6, R8, R11).

import Domain
import Formats
import Glibc
import Platform
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct HostileClientsTorture {
  private static let suite = "hostile clients"
  private static let idle = Torture.size(short: 300, long: 5000)
  private static let slow = Torture.size(short: 40, long: 400)
  private static let repeats = Torture.size(short: 1, long: 10)
  private static let cuts = Torture.size(short: 200, long: 20_000)
  private static let threads = 8
  /// Long enough for four megabytes of the worst input, also under a sanitizer.
  private static let requestTimeout: Duration =
    .seconds(Torture.size(short: 3, long: 6) * (Sanitizer.isOn ? 5 : 1))
  /// The limit of the resident memory: the relay with its caches, large bodies twice (once where they are
  /// collected, once where they are read or stored), and each connection.
  private static let peakKibibytesMax = Sanitizer.memory(96 * 1024 + 2 * 64 * 1024 + idle * 24)
  /// Connections, and the relay's own files.
  private static var descriptorsMax: Int { connections + 64 }
  private static var connections: Int { 2 * idle + slow + 200 }

  /// The last number of the source address, by kind of client.
  private enum Source {
    static let idle: UInt32 = 1
    static let good: UInt32 = 2
    static let rows: UInt32 = 3
    static let slow: UInt32 = 4
    static let cuts: UInt32 = 5
    static let large: UInt32 = 6
  }

  @Test(
    "Hostile clients are refused, a good one is served meanwhile, and nothing grows (R6, R8, R11)")
  func hostileClients() throws {
    ProcessLimits.raiseOpenFiles()
    let limits: JSONValue = [
      "connections": .integer(Int64(Self.connections)), "connections_per_address": .integer(Int64(Self.idle)),
      "request_timeout": .string(DurationText.text(Self.requestTimeout)),
    ]
    let app: JSONValue = ["delivery": ["rate": 10_000]]
    try withRelay(app: app, top: ["limits": limits]) { relay, _ in
      let process = try #require(relay.process)
      let gauge = try Gauge(descriptorsOf: process.id)
      var outside = relay.outside
      outside.api.source = Source.good
      let good = try GoodClient(outside, name: "good", pause: .milliseconds(5))
      let port = relay.outside.api.port
      let idle = try Self.openIdle(port, process)
      try Self.askForMore(port)
      let faults = Monitor<[String]>([])
      let slow = try Self.startSlow(port, faults)
      let rows = try HostileRequests.all()
      try Self.playRows(rows, port)
      try Self.cutAnywhere(port)
      try Self.fillWithBodies(relay, good: outside)
      for thread in slow { thread.join() }
      #expect(faults.withLock { $0 }.isEmpty, "slow clients: \(faults.withLock { $0.prefix(5) })")
      let served = try Self.finish(good)
      let descriptors = gauge.stop()
      let peak = try #require(process.peakKibibytes)
      #expect(peak < Self.peakKibibytesMax, "\(peak) KiB")
      #expect(descriptors < Self.descriptorsMax, "\(descriptors)")
      #expect(idle.count == Self.idle)
      try Self.checkStore(relay, served)
      Torture.report(Self.suite, "cases", rows.count * Self.repeats + Self.slow + Self.cuts + 2)
      Torture.report(Self.suite, "idle connections", idle.count)
      Torture.report(Self.suite, "good checkouts served meanwhile", served.checkouts.count)
      Torture.report(Self.suite, "p99 of a good checkout, ms", served.milliseconds(share: 0.99))
      Torture.report(Self.suite, "highest memory, MiB", peak / 1024)
      Torture.report(Self.suite, "highest memory allowed, MiB", Self.peakKibibytesMax / 1024)
      Torture.report(Self.suite, "most descriptors", descriptors)
    }
  }

  // MARK: One address opens as many connections as it can

  private static func openIdle(_ port: UInt16, _ process: ChildProcess) throws -> [Wire] {
    let (before, open) = (try #require(process.residentKibibytes), process.descriptors)
    // Each has had a response: without a request it would be closed after the request timeout.
    let wires = try (0..<idle).map { _ in
      let wire = try Wire(port, source: Source.idle)
      try wire.send("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try wire.reply().status == 404)
      return wire
    }
    try waitUntil("\(idle) connections are open") { process.descriptors >= open + idle }
    let bytes = max(0, try #require(process.residentKibibytes) - before) * 1024 / idle
    Torture.report(suite, "memory of an idle connection, bytes", bytes)
    return wires
  }

  private static func askForMore(_ port: UInt16) throws {
    for _ in 0..<20 {
      let wire = try Wire(port, source: Source.idle)
      #expect(wire.isClosed(within: Waiting.patience))
      #expect(wire.unread.isEmpty)
    }
  }

  // MARK: Slow ones

  /// Slow senders of headers and of bodies, each fed by a thread until the relay closes it.
  private static func startSlow(_ port: UInt16, _ faults: Monitor<[String]>) throws -> [WorkerThread] {
    let starts = [
      "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ",
      "POST \(HostileRequests.contexts) HTTP/1.1\r\nHost: x\r\n\(HostileRequests.key)"
        + "Content-Length: 60000\r\n\r\n",
      "POST \(Stripe.eventsPath) HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nff00\r\n",
    ]
    return try (0..<4).map { thread in
      try WorkerThread(name: "slow-\(thread)") {
        do {
          try drip((0..<slow / 4).map { starts[($0 + thread) % starts.count] }, port, faults)
        } catch {
          faults.withLock { $0.append("\(error)") }
        }
      }
    }
  }

  private static func drip(_ starts: [String], _ port: UInt16, _ faults: Monitor<[String]>) throws {
    var open = try starts.map { start in
      let wire = try Wire(port, source: Source.slow)
      try wire.send(start)
      return wire
    }
    let deadline = MonotonicInstant.now().advanced(by: requestTimeout * 10)
    while !open.isEmpty {
      guard MonotonicInstant.now() < deadline else { throw NeverHappened(what: "\(open.count) are cut off") }
      Waiting.pause()
      open.removeAll { wire in
        // After the relay has closed, sending fails; its response can still be read.
        guard wire.isReadable(within: .zero) || (try? wire.send("a")) == nil else { return false }
        let reply = try? wire.reply(within: .seconds(1))
        if reply?.status != 408 { faults.withLock { $0.append("got \(String(describing: reply))") } }
        return true
      }
    }
  }

  // MARK: The table

  private static func playRows(_ rows: [HostileRequest], _ port: UInt16) throws {
    let next = Monitor(0)
    let total = rows.count * repeats
    let faults = try onThreads(threads) { _ in
      var faults: [String] = []
      while let index = next.withLock({ next -> Int? in
        defer { next += 1 }
        return next < total ? next : nil
      }) {
        let row = rows[index % rows.count]
        do {
          if let fault = try playInTime(row, port) { faults.append("\(row.name): \(fault)") }
        } catch {
          faults.append("\(row.name) should be \(row.verdict): \(error)")
        }
      }
      return faults
    }
    for fault in Set(faults.joined()) { Issue.record("\(fault)") }
  }

  /// Plays a row again if its bytes came too late for the relay. That happens on a busy machine; a defect of
  /// the relay would repeat it.
  private static func playInTime(_ row: HostileRequest, _ port: UInt16) throws -> String? {
    var fault = try play(row, port)
    for _ in 0..<2 where fault?.contains(#/^\[?408\]? instead/#) == true { fault = try play(row, port) }
    return fault
  }

  /// Why a row's result is wrong; nil when it is right.
  private static func play(_ row: HostileRequest, _ port: UInt16) throws -> String? {
    let wire = try Wire(port, source: Source.rows)
    // The relay may close before everything is sent.
    try? wire.send(row.bytes)
    if row.end == .halfCloses { wire.finish() }
    func statuses(_ count: Int) throws -> [Int] { try (0..<count).map { _ in try wire.reply().status } }
    let isPatient = Waiting.patience
    switch row.verdict {
    case .silence: return wire.isReadable(within: .milliseconds(50)) ? "is answered" : nil
    case .refusedByLibrary(let wanted):
      let got = try wire.reply().status
      guard got == wanted else { return "\(got) instead of \(wanted)" }
      return wire.isClosed(within: isPatient) ? nil : "stays open"
    case .closes(let wanted):
      let got = try statuses(wanted.count)
      guard got == wanted else { return "\(got) instead of \(wanted)" }
      guard wire.isClosed(within: isPatient) else { return "stays open" }
      return wire.unread.isEmpty ? nil : "more came: \(String(decoding: wire.unread, as: UTF8.self))"
    case .goesOn(let wanted):
      let got = try statuses(wanted.count)
      guard got == wanted else { return "\(got) instead of \(wanted)" }
      try wire.send("GET /v1/shop/contexts/ctx_nothing HTTP/1.1\r\nHost: x\r\n\r\n")
      let next = try wire.reply()
      return next["type"] == "urn:receiptd:problem:unknown-context" ? nil : "then \(next.status)"
    }
  }

  // MARK: Cut off at any moment

  private static func cutAnywhere(_ port: UInt16) throws {
    let seed = Torture.seed(20_261_121)
    let body = Checkout("cut").completed.serialized()
    let signature = try Stripe.signature(of: body, secret: "whsec_forged")
    let whole = [
      Endpoint.bytes("POST", HostileRequests.contexts, body: body, headers: ["X-API-KEY": Secrets.clientKey]),
      Endpoint.bytes("POST", Stripe.eventsPath, body: body, headers: ["Stripe-Signature": signature]),
      Endpoint.bytes("GET", "/v1/shop/contexts/ctx_nothing?wait=30", body: nil, headers: [:]),
    ]
    _ = try onThreads(threads) { thread in
      var random = SeededGenerator(seed: seed &+ UInt64(thread))
      for _ in 0..<cuts / threads {
        var bytes = whole[Int.random(in: whole.indices, using: &random)]
        if Bool.random(using: &random) {
          bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
        }
        let wire = try Wire(port, source: Source.cuts)
        // A changed byte may already have made the relay close.
        try? wire.send(Array(bytes.prefix(.random(in: 0...bytes.count, using: &random))))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: wire.resetAtEnd()
        case 1: wire.finish()
        case 2: _ = wire.isReadable(within: .milliseconds(1))
        default: break
        }
      }
    }
  }

  // MARK: Large bodies

  /// One address fills its share of large bodies; a large event from another address is accepted.
  private static func fillWithBodies(_ relay: Relay, good: Outside) throws {
    let most = 4 << 20
    let head = Endpoint.bytes("POST", Stripe.eventsPath, body: nil, headers: ["Content-Length": "\(most)"])
    let part = [UInt8](repeating: UInt8(ascii: "x"), count: most - 1)
    let wires = try (0..<12).map { _ in try Wire(relay.outside.api.port, source: Source.large) }
    for wire in wires { try wire.send(head + part) }
    let big = Checkout("large").sessionEvent(
      "completed", ["padding": .string(String(repeating: "x", count: 300_000))])
    let reply = try good.send(big)
    #expect(reply.status == 200, "\(reply.text)")
    for wire in wires { try? wire.send("x") }
    let replies = try wires.map { try $0.reply() }
    let refused = replies.filter { $0.status == 503 }
    #expect(refused.count >= 4, "\(replies.map(\.status))")
    for reply in refused {
      #expect(reply.header("Retry-After") == "1")
      #expect(reply["type"] == "urn:receiptd:problem:busy")
    }
    // The others were read completely and refused for their signature, or closed because they were slow.
    #expect(replies.allSatisfy { [400, 408, 503].contains($0.status) })
  }

  // MARK: The end

  private static func finish(_ good: GoodClient) throws -> GoodClient.Served {
    try good.waitFor(10)
    let served = good.stop()
    #expect(served.failures.isEmpty, "\(served.failures.prefix(5))")
    return served
  }

  /// The database contains the good client's events and the validly signed ones, once each.
  private static func checkStore(_ relay: Relay, _ served: GoodClient.Served) throws {
    for checkout in [served.checkouts.first, served.checkouts.last].compactMap({ $0 }) {
      try relay.reaches(.delivered, checkout.subscription)
    }
    #expect(try relay.count("contexts") == Int64(served.checkouts.count))
    #expect(try relay.count("events") == Int64(served.checkouts.count + HostileRequests.signedEvents + 1))
    #expect(try relay.receipts().count == served.checkouts.count + 1)
    #expect(try relay.stop() == 0)
    #expect(try relay.read { try $0.integrityFaults() }.isEmpty)
  }
}
