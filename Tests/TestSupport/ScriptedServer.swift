// A server on a raw socket that runs a test's script, including violations of the protocol. Each connection
// has its own thread; stopping ends all of them.

internal import Formats
import Glibc
import Platform

/// Listens on 127.0.0.1 and runs a script for every connection. `stop` must be called; it joins every thread.
public final class ScriptedServer: Sendable {
  public let port: UInt16
  private let listener: Int32
  private let state = Monitor(State())

  private struct State {
    var accepted = 0
    var connections: [ScriptedConnection] = []
    var threads: [WorkerThread] = []
  }

  public init(_ script: @escaping @Sendable (ScriptedConnection) -> Void) throws {
    (listener, port) = try openSocket()
    guard listen(listener, 64) == 0 else { throw SystemError.last("listen") }
    let (listener, state) = (listener, state)
    let acceptor = try WorkerThread(name: "acceptor") {
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        let connection = ScriptedConnection(descriptor)
        // Counted before the script can answer: a client that has its answer is already counted.
        state.update { state in
          state.accepted += 1
          state.connections.append(connection)
        }
        let thread = try? WorkerThread(name: "script") {
          script(connection)
          connection.close()
        }
        // Without a thread the connection hangs, and the test fails by its own deadline.
        if let thread { state.update { $0.threads.append(thread) } }
      }
    }
    state.update { $0.threads.append(acceptor) }
  }

  /// The number of connections so far.
  public var accepted: Int { state.withLock { $0.accepted } }

  /// Waits for this number of connections; a script can use it to delay its answer.
  public func waitForConnections(_ count: Int) -> Bool {
    let deadline = MonotonicInstant.now().advanced(by: .seconds(300))
    return state.wait(until: deadline) { $0.accepted >= count ? true : nil } ?? false
  }

  public func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    // The acceptor is joined first; from then on the lists do not grow.
    state.withLock { $0.threads.isEmpty ? nil : $0.threads.removeFirst() }?.join()
    let (connections, threads) = state.withLock { ($0.connections, $0.threads) }
    for connection in connections { connection.interrupt() }
    for thread in threads { thread.join() }
    Glibc.close(listener)
  }
}

/// One accepted connection. Owns the socket. The script's thread uses it; `interrupt` is called from any
/// thread.
public final class ScriptedConnection: Sendable {
  private let socket: Monitor<Int32?>

  fileprivate init(_ descriptor: Int32) {
    // A script whose client never sends anything ends after this time.
    var patience = timeval(tv_sec: 300, tv_usec: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    socket = Monitor(descriptor)
  }

  /// The next request, head and body; nil when the client closed the connection or sent none.
  public func readRequest() -> String? {
    var bytes: [UInt8] = []
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if let end = text.firstRange(of: "\r\n\r\n"), let head = Optional(text[..<end.lowerBound]) {
        let field = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        let length = field.flatMap { Int($0.dropFirst(15).filter(\.isNumber)) } ?? 0
        if text[end.upperBound...].utf8.count >= length { return text }
      }
      guard let more = read() else { return nil }
      bytes += more
    }
  }

  private func read() -> [UInt8]? {
    guard let descriptor = socket.withLock({ $0 }) else { return nil }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    return count > 0 ? Array(buffer.prefix(count)) : nil
  }

  /// Sends a text. Returns whether all of it was sent.
  @discardableResult public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult public func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      guard let descriptor = socket.withLock({ $0 }) else { return false }
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Sends a normal response and keeps the connection open.
  @discardableResult public func answer(_ status: String = "200 OK", _ body: String = "ok") -> Bool {
    send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  /// Waits until the client has closed its side.
  public func waitForClose() {
    while read() != nil {}
  }

  /// Whether the client closes its side within this time.
  public func closes(within time: Duration) -> Bool {
    guard let descriptor = socket.withLock({ $0 }) else { return true }
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, Int32(clamping: time.milliseconds)) > 0
  }

  /// Resets the connection: RST instead of FIN (SO_LINGER of zero, socket(7)).
  public func reset() {
    guard let descriptor = socket.withLock({ $0 }) else { return }
    var now = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  public func close() {
    socket.withLock { descriptor in
      if let open = descriptor { Glibc.close(open) }
      descriptor = nil
    }
  }

  fileprivate func interrupt() {
    socket.withLock { if let open = $0 { shutdown(open, Int32(SHUT_RDWR)) } }
  }
}

/// A TCP socket bound to a free port of 127.0.0.1 without listening: connections to it are refused.
public func openSocket() throws -> (descriptor: Int32, port: UInt16) {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  guard descriptor >= 0 else { throw SystemError.last("socket") }
  guard let port = Loopback.freePort(of: descriptor) else {
    Glibc.close(descriptor)
    throw SystemError.last("bind")
  }
  return (descriptor, port)
}
