// The limit for all bodies together, and its release however a request ends (R8, R11).

import Glibc
import Platform
import Testing

@testable import HTTPServer

@Suite("The bodies of all requests together") struct BodyBudgetTests {
  private static let kibibyte = 1024
  private static let bodyBytesMax = 4 << 20

  /// A server with a limit of 1 MiB for all bodies, and so 512 KiB for one address.
  private static func serve(
    _ application: TestApplication, _ change: (inout ServerConfiguration) -> Void = { _ in }
  ) throws -> Server {
    try application.serve {
      $0.bodyBytesTotalMax = 1 << 20
      // No body is slow enough to be cut for another one.
      $0.evictionGrace = .seconds(300)
      change(&$0)
    }
  }

  private static func application(_ handle: TestApplication.Handle? = nil) -> TestApplication {
    TestApplication(
      admit: { _ in .body(maximumBytes: Self.bodyBytesMax) },
      handle: handle ?? { $1.respond(Response(status: 200, text: "\($0.body.count)")) })
  }

  private static func text(_ count: Int) -> [UInt8] { [UInt8](repeating: UInt8(ascii: "x"), count: count) }

  private static func head(_ length: Int) -> String {
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\r\n"
  }

  private static let chunkedHead = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

  /// Waits until the bodies hold a matching number of bytes.
  private static func waitUntil(_ server: Server, holds condition: (Int) -> Bool) throws {
    let end = MonotonicInstant.now().advanced(by: .seconds(300))
    while !condition(server.bodyBytesHeld) {
      try #require(MonotonicInstant.now() < end, "\(server.bodyBytesHeld) bytes are held")
      _ = poll(nil, 0, 2)
    }
  }

  @Test("Large bodies of one address are refused at its share; other and small ones are accepted")
  func share() throws {
    let server = try Self.serve(Self.application())
    let first = try TestClient(server)
    try first.send(Self.head(400 * Self.kibibyte))
    try first.send(Self.text(400 * Self.kibibyte - 1))
    try Self.waitUntil(server) { $0 == 400 * Self.kibibyte }
    let second = try TestClient(server)
    try second.send(Self.head(200 * Self.kibibyte))
    let refusal = try second.response()
    #expect(refusal.status == 503)
    #expect(refusal.body == "no room")
    #expect(refusal.closes)
    let small = try TestClient(server)
    try small.send(Self.head(64 * Self.kibibyte))
    try small.send(Self.text(64 * Self.kibibyte))
    #expect(try small.response().status == 200)
    let other = try TestClient(server, source: 2)
    try other.send(Self.head(200 * Self.kibibyte))
    try other.send(Self.text(200 * Self.kibibyte))
    #expect(try other.response().body == "\(200 * Self.kibibyte)")
    try first.send("x")
    #expect(try first.response().body == "\(400 * Self.kibibyte)")
    try Self.waitUntil(server) { $0 == 0 }
    // The released bytes are available again.
    try first.send(Self.head(500 * Self.kibibyte))
    try first.send(Self.text(500 * Self.kibibyte))
    #expect(try first.response().status == 200)
    server.stop(grace: .seconds(1))
  }

  @Test(
    "Of two admitted bodies that do not fit together, one is accepted and the other gets 503")
  func collision() throws {
    let server = try Self.serve(Self.application())
    let (first, second) = (try TestClient(server), try TestClient(server))
    let length = 400 * Self.kibibyte
    for client in [first, second] {
      try client.send(Self.head(length))
      // Too few bytes to be counted, so that the second request is admitted, too.
      try client.send(Self.text(1))
    }
    try first.send(Self.text(length - 2))
    try Self.waitUntil(server) { $0 == length }
    try second.send(Self.text(length - 1))
    let refusal = try second.response()
    #expect(refusal.status == 503)
    #expect(refusal.body == "no room")
    #expect(refusal.closes)
    #expect(server.bodyBytesHeld == length)
    try first.send("x")
    #expect(try first.response().body == "\(length)")
    try Self.waitUntil(server) { $0 == 0 }
    server.stop(grace: .seconds(1))
  }

  @Test(
    "The oldest incomplete body is cut for a newer one; of the same client if that has used its share",
    arguments: [true, false])
  func slowBodies(ofOneClient: Bool) throws {
    let server = try Self.serve(Self.application()) { $0.evictionGrace = .zero }
    let length = (ofOneClient ? 250 : 500) * Self.kibibyte
    let slow = try (2...3).map { try TestClient(server, source: ofOneClient ? 2 : $0) }
    for (number, client) in slow.enumerated() {
      try client.send(Self.head(length))
      try client.send(Self.text(length - 1))
      try Self.waitUntil(server) { $0 == (number + 1) * length }
    }
    let bystander = try TestClient(server, source: 5)
    try bystander.send(Self.head(10))
    try bystander.send(Self.text(9))
    let client = try TestClient(server, source: ofOneClient ? 2 : 4)
    try client.send(Self.head(200 * Self.kibibyte))
    try client.send(Self.text(200 * Self.kibibyte))
    #expect(try client.response().body == "\(200 * Self.kibibyte)")
    let refusal = try slow[0].response()
    #expect(refusal.body == "no room")
    #expect(refusal.closes)
    for (client, length) in [(slow[1], length), (bystander, 10)] {
      try client.send("x")
      #expect(try client.response().body == "\(length)")
    }
    server.stop(grace: .seconds(1))
  }

  @Test func `A body in chunks is refused when the room ends, before its end`() throws {
    let application = Self.application()
    let server = try Self.serve(application)
    let client = try TestClient(server)
    try client.send(Self.chunkedHead)
    let chunk = Array("10000\r\n".utf8) + Self.text(0x10000) + Array("\r\n".utf8)
    for _ in 0..<64 {
      // The refusal cuts the connection, possibly before everything is sent.
      guard (try? client.send(chunk)) != nil else { break }
    }
    #expect(try client.response().status == 503)
    #expect(application.rejections == [.noRoom])
    try Self.waitUntil(server) { $0 == 0 }
    server.stop(grace: .seconds(1))
  }

  /// The ways in which a large body can end.
  enum End: CaseIterable {
    case closedByClient, reset, tooSlow, tooLarge, dropped, stopped, answeredLate
  }

  @Test(arguments: End.allCases)
  func `Every end of a large body returns its share of the budget`(_ end: End) throws {
    let application = Self.application { request, responder in
      if request.head.path == "/answer" { responder.respond(Response(status: 200)) }
    }
    let keeping = TestApplication(admit: { _ in .body(maximumBytes: 300 * Self.kibibyte) }, handle: nil)
    let isKept = end == .answeredLate || end == .stopped || end == .tooLarge
    let server = try Self.serve(isKept ? keeping : application) {
      if end == .tooSlow { $0.requestTimeout = .milliseconds(200) }
    }
    var client: TestClient? = try TestClient(server)
    try client?.send(end == .tooLarge ? Self.chunkedHead : Self.head(200 * Self.kibibyte))
    if end == .tooLarge { try client?.send("100000\r\n") }
    try client?.send(Self.text(200 * Self.kibibyte - 1))
    try Self.waitUntil(server) { $0 >= 200 * Self.kibibyte - 1 }
    switch end {
    case .closedByClient: client = nil
    case .reset: client?.reset()
    case .tooSlow: #expect(try client?.response().status == 408)
    case .tooLarge:
      _ = try? client?.send(Self.text(200 * Self.kibibyte))
      #expect(try client?.response().status == 413)
    case .dropped:
      try client?.send("x")
      #expect(try client?.response().status == 500)
    case .stopped:
      try client?.send("x")
      _ = try keeping.waitFor { $0.responders.isEmpty ? nil : true }
      server.stop(grace: .zero)
      #expect(try client?.response().status == 503)
    case .answeredLate:
      try client?.send("x")
      let responder = try keeping.nextResponder()
      // The bytes are held as long as the application may have them.
      #expect(server.bodyBytesHeld == 200 * Self.kibibyte)
      responder.respond(Response(status: 200))
      #expect(try client?.response().status == 200)
    }
    try Self.waitUntil(server) { $0 == 0 }
    server.stop(grace: .seconds(1))
  }
}
