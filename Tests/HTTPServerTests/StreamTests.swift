// Tests bodies that are made while they are sent: for readers of any speed, for those who hang up, and when
// the server stops.

import HTTPServer
import Platform
import Testing

/// A body of numbered lines.
private final class Lines: BodyStream {
  struct Failed: Error {}

  struct State {
    var asked = 0
    var isReleased = false
  }

  let state: Monitor<State>
  private let count: Int
  private let failsAt: Int?
  private let lineBytes: Int

  /// - Parameter failsAt: the line that cannot be made.
  init(_ count: Int, state: Monitor<State>, failsAt: Int? = nil, lineBytes: Int = 1000) {
    self.state = state
    self.count = count
    self.failsAt = failsAt
    self.lineBytes = lineBytes
  }

  func next() throws -> [UInt8]? {
    let number = state.update { state in
      state.asked += 1
      return state.asked
    }
    if number == failsAt { throw Failed() }
    return number <= count ? Self.line(number, lineBytes) : nil
  }

  /// Each third piece is empty.
  static func line(_ number: Int, _ bytes: Int) -> [UInt8] {
    guard number % 3 != 0 else { return [] }
    let digits = Array("\(number) ".utf8)
    return digits + [UInt8](repeating: UInt8(ascii: "."), count: bytes) + [UInt8(ascii: "\n")]
  }

  static func text(_ count: Int, _ bytes: Int = 1000) -> String {
    String(decoding: (1...count).flatMap { line($0, bytes) }, as: UTF8.self)
  }

  deinit { state.update { $0.isReleased = true } }
}

@Suite("Streams")
struct StreamTests {
  private let state = Monitor(Lines.State())

  private func serve(
    _ count: Int, failsAt: Int? = nil, lineBytes: Int = 1000,
    _ change: (inout ServerConfiguration) -> Void = { _ in }
  ) throws -> (Server, TestApplication) {
    let state = state
    let application = TestApplication { request, responder in
      guard request.head.path == "/lines" else {
        return responder.respond(Response(status: 200, text: "short"))
      }
      let stream = Lines(count, state: state, failsAt: failsAt, lineBytes: lineBytes)
      responder.respond(Response(status: 200, headers: [("Content-Type", "text/plain")], stream: stream))
    }
    return (try application.serve(change), application)
  }

  /// The data of a chunked body (RFC 9112 §7.1), and whether its end was sent.
  private func unchunked(_ text: String) throws -> (data: String, isWhole: Bool) {
    var rest = text.utf8[...]
    var data: [UInt8] = []
    while let end = rest.firstIndex(of: UInt8(ascii: "\r")) {
      let size = try #require(Int(String(Substring(rest[..<end])), radix: 16))
      rest = rest[end...].dropFirst(2)
      guard size > 0 else { return (String(decoding: data, as: UTF8.self), true) }
      data += rest.prefix(size)
      guard rest.count > size + 1 else { break }
      rest = rest.dropFirst(size + 2)
    }
    return (String(decoding: data, as: UTF8.self), false)
  }

  private func waitUntilReleased() throws {
    let isReleased = state.wait(until: .now().advanced(by: .seconds(300))) { $0.isReleased ? true : nil }
    #expect(isReleased == true)
  }

  private func body(_ answer: String) throws -> (head: String, body: String) {
    let end = try #require(answer.utf8.firstRange(of: Array("\r\n\r\n".utf8)))
    return (
      String(Substring(answer.utf8[..<end.lowerBound])), String(Substring(answer.utf8[end.upperBound...]))
    )
  }

  @Test func `HTTP/1.1 gets it in chunks, and the connection serves the next request`() throws {
    let (server, _) = try serve(900)
    let client = try TestClient(server)
    try client.send("GET /lines HTTP/1.1\r\nHost: x\r\n\r\n")
    let (head, body) = try body(try client.text(endingWith: "\r\n0\r\n\r\n"))
    #expect(head.contains("Transfer-Encoding: chunked"))
    #expect(!head.contains("Content-Length"))
    let sent = try unchunked(body)
    #expect(sent.isWhole)
    #expect(sent.data == Lines.text(900))
    #expect(!head.contains("Connection: close"))
    try client.send("GET /short HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    #expect(try client.response().body == "short")
    #expect(try client.rest() == "")
    try waitUntilReleased()
  }

  @Test func `HTTP/1.0 gets it as it is, to the end of the connection`() throws {
    let (server, _) = try serve(90)
    let client = try TestClient(server)
    try client.send("GET /lines HTTP/1.0\r\nHost: x\r\n\r\n")
    let (head, body) = try body(try client.rest())
    #expect(!head.contains("chunked"))
    #expect(body == Lines.text(90))
  }

  @Test func `HEAD gets the header fields, and nothing is made`() throws {
    let (server, _) = try serve(900)
    let client = try TestClient(server)
    try client.send("HEAD /lines HTTP/1.1\r\nHost: x\r\n\r\n")
    let reply = try client.response(toHead: true)
    #expect(reply.status == 200)
    #expect(reply.header("Content-Type") == "text/plain")
    #expect(reply.header("Content-Length") == nil)
    #expect(reply.closes)
    #expect(try client.rest() == "")
    #expect(state.withLock { $0.asked } == 0)
    try waitUntilReleased()
  }

  @Test func `While a client does not read, a bounded part is made, and others are served`() throws {
    // 64 MB, more than the kernel's buffers hold.
    let (server, _) = try serve(960, lineBytes: 100_000) { $0.threads = 1 }
    let slow = try TestClient(server)
    try slow.send("GET /lines HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    #expect(slow.isReadable(within: .seconds(300)))
    for _ in 0..<20 {
      let other = try TestClient(server)
      try other.send("GET /short HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try other.response().body == "short")
    }
    #expect(state.withLock { $0.asked } < 900)
    let (_, body) = try body(try slow.rest())
    let sent = try unchunked(body)
    #expect(sent.isWhole)
    #expect(sent.data.utf8.count == Lines.text(960, 100_000).utf8.count)
  }

  @Test func `A client that hangs up ends it`() throws {
    let (server, _) = try serve(.max, lineBytes: 100_000)
    let client = try TestClient(server)
    try client.send("GET /lines HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(client.isReadable(within: .seconds(300)))
    client.reset()
    try waitUntilReleased()
  }

  @Test func `A client that reads nothing for the idle time is cut`() throws {
    let (server, _) = try serve(.max, lineBytes: 100_000) {
      $0.idleTimeout = .seconds(1)
      $0.requestTimeout = .seconds(1)
    }
    let client = try TestClient(server)
    try client.send("GET /lines HTTP/1.1\r\nHost: x\r\n\r\n")
    try waitUntilReleased()
    #expect(try !unchunked(try body(try client.rest()).body).isWhole)
  }

  @Test func `A stop does not wait for its end, and the client sees that the body is not complete`() throws {
    let (server, _) = try serve(.max)
    let client = try TestClient(server)
    try client.send("GET /lines HTTP/1.1\r\nHost: x\r\n\r\n")
    let isReleased = state.wait(until: .now().advanced(by: .seconds(300))) {
      $0.asked > 20 ? $0.isReleased : nil
    }
    #expect(isReleased == false, "the body is being sent")
    let start = MonotonicInstant.now()
    let stopper = try WorkerThread(name: "stop") { server.stop(grace: .seconds(200)) }
    let text = try client.rest()
    stopper.join()
    #expect(MonotonicInstant.now().duration(since: start) < .seconds(100))
    #expect(try !unchunked(try body(text).body).isWhole)
    try waitUntilReleased()
  }

  @Test func `A body that cannot be completed ends the connection before its end, and is logged`() throws {
    let (server, application) = try serve(900, failsAt: 50)
    let client = try TestClient(server)
    try client.send("GET /lines HTTP/1.1\r\nHost: x\r\n\r\n")
    let sent = try unchunked(try body(try client.rest()).body)
    #expect(!sent.isWhole)
    #expect(Lines.text(49).hasPrefix(sent.data))
    #expect(application.seen.withLock { $0.log.contains { $0.contains("could not be completed") } })
    try waitUntilReleased()
  }
}
