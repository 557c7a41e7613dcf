// HTTP/1.1 over a raw socket, for tests that control each byte. Every wait has a deadline.

import Formats
import Glibc
import Platform
import TestSupport

enum WireError: Error {
  case system(SystemError)
  case timedOut
  case closed
  case notHTTP(String)
}

/// A response.
struct Reply: Sendable {
  let status: Int
  let headers: [String]
  let body: [UInt8]

  func header(_ name: String) -> String? {
    let prefix = name.lowercased() + ":"
    return headers.first { $0.lowercased().hasPrefix(prefix) }
      .map { String($0.dropFirst(prefix.utf8.count).drop { $0 == " " }) }
  }

  var text: String { String(decoding: body, as: UTF8.self) }

  /// The body as JSON; nil when it is not JSON.
  var json: JSONValue? { try? JSONValue(parsing: body) }

  /// The text of a member of the body.
  subscript(name: String) -> String? { json?[name]?.stringValue }
}

/// One TCP connection to 127.0.0.1, from any loopback address. Owns its descriptor. One thread.
final class Wire {
  private let descriptor: Int32
  private var received: [UInt8] = []

  /// - Parameter source: the last number of the local address: 1 is 127.0.0.1.
  init(_ port: UInt16, source: UInt32 = 1) throws(WireError) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .system(.last("socket")) }
    self.descriptor = descriptor
    if source != 1 {
      // Without it bind(2) looks for a port that is free for all destinations, and soon finds none.
      var on: Int32 = 1
      unsafe setsockopt(
        descriptor, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, &on, socklen_t(MemoryLayout<Int32>.size))
      guard Loopback.bind(descriptor, number: source) == 0 else {
        throw .system(.last("bind"))
      }
    }
    guard Loopback.connect(descriptor, to: port) == 0 else {
      throw .system(.last("connect"))
    }
  }

  /// A connection to a Unix socket.
  init(socketPath: String) throws(WireError) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .system(.last("socket")) }
    self.descriptor = descriptor
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: socketPath.utf8) }
    let code = unsafe withUnsafeBytes(of: address) { bytes in
      unsafe bytes.withMemoryRebound(to: sockaddr.self) {
        unsafe connect(descriptor, $0.baseAddress, socklen_t(bytes.count))
      }
    }
    guard code == 0 else { throw .system(.last("connect")) }
  }

  deinit { close(descriptor) }

  func send(_ text: String) throws(WireError) { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws(WireError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      guard unsafe poll(&entry, 1, Int32(clamping: Waiting.patience.milliseconds)) > 0 else {
        throw .timedOut
      }
      let descriptor = descriptor
      let sent = unsafe rest.withUnsafeBytes {
        unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
      }
      if sent < 0 && (errno == EAGAIN || errno == EINTR) { continue }
      guard sent > 0 else { throw .system(.last("send")) }
      rest = rest.dropFirst(sent)
    }
  }

  /// The next response, with the body that Content-Length announces or that comes in chunks.
  /// - Parameter hasBody: false for a response to HEAD, which has a length and no body.
  func reply(
    within time: Duration = Waiting.patience, hasBody: Bool = true
  ) throws(WireError) -> Reply {
    let deadline = MonotonicInstant.now().advanced(by: time)
    var headEnd = endOfHead
    while headEnd == nil {
      try receive(until: deadline)
      headEnd = endOfHead
    }
    guard let headEnd else { throw .closed }
    let lines = String(decoding: received[..<headEnd], as: UTF8.self).split(separator: "\r\n").map(
      String.init)
    let words = (lines.first ?? "").split(separator: " ")
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
      throw .notHTTP(String(decoding: received, as: UTF8.self))
    }
    let headers = Array(lines.dropFirst())
    let head = Reply(status: status, headers: headers, body: [])
    if hasBody, head.header("Transfer-Encoding") == "chunked" {
      received.removeFirst(headEnd)
      return Reply(status: status, headers: headers, body: try chunks(until: deadline))
    }
    let total = headEnd + (hasBody ? head.header("Content-Length").flatMap { Int($0) } ?? 0 : 0)
    while received.count < total { try receive(until: deadline) }
    let reply = Reply(status: status, headers: headers, body: Array(received[headEnd..<total]))
    received.removeFirst(total)
    return reply
  }

  /// The data of a chunked body (RFC 9112 §7.1) without trailers.
  private func chunks(until deadline: MonotonicInstant) throws(WireError) -> [UInt8] {
    var data: [UInt8] = []
    var at = 0
    while true {
      guard let line = received[at...].firstIndex(of: UInt8(ascii: "\n")), line > at else {
        try receive(until: deadline)
        continue
      }
      guard let size = Int(String(decoding: received[at..<line - 1], as: UTF8.self), radix: 16) else {
        throw .notHTTP(String(decoding: received[at..<line], as: UTF8.self))
      }
      let end = line + 1 + size + 2
      while received.count < end { try receive(until: deadline) }
      data += received[(line + 1)..<(line + 1 + size)]
      at = end
      guard size > 0 else {
        received.removeFirst(at)
        return data
      }
    }
  }

  private var endOfHead: Int? {
    // memchr(3): reading byte by byte takes most of a test's time in builds for debugging.
    let mark: [UInt8] = Array("\r\n\r\n".utf8)
    return unsafe received.withUnsafeBytes { bytes in
      var rest = unsafe bytes[...]
      while let base = unsafe rest.base.baseAddress, unsafe rest.count >= mark.count,
        let found = unsafe memchr(base + rest.startIndex, Int32(mark[0]), rest.count)
      {
        unsafe rest = rest[(UnsafeRawPointer(found) - base)...]
        if unsafe rest.starts(with: mark) { return unsafe rest.startIndex + mark.count }
        unsafe rest = rest.dropFirst()
      }
      return nil
    }
  }

  /// Closes the sending side; the peer sees end of file.
  func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Makes `close` end the connection with RST instead of FIN (SO_LINGER of zero, socket(7)).
  func resetAtEnd() {
    var now = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
  }

  /// Waits until the peer has closed.
  /// - Returns: whether it did in time; everything that it sent must have been read.
  func isClosed(within time: Duration) -> Bool {
    let deadline = MonotonicInstant.now().advanced(by: time)
    do {
      while true { try receive(until: deadline) }
    } catch {
      if case .closed = error { return true }
      return false
    }
  }

  /// Bytes that were received and not read as a response.
  var unread: [UInt8] { received }

  func isReadable(within time: Duration) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, Int32(clamping: max(.zero, time).milliseconds)) > 0
  }

  private func receive(until deadline: MonotonicInstant) throws(WireError) {
    guard isReadable(within: deadline.duration(since: .now())) else { throw .timedOut }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { throw .closed }
    received += buffer[..<count]
  }
}

/// A server on this machine. A value; thread-safe.
struct Endpoint: Sendable {
  let port: UInt16
  /// The last number of the local address.
  var source: UInt32 = 1

  /// One request on its own connection.
  func request(
    _ method: String, _ path: String, body: [UInt8]? = nil, headers: [String: String] = [:]
  ) throws -> Reply {
    let wire = try Wire(port, source: source)
    try wire.send(Self.bytes(method, path, body: body, headers: headers))
    return try wire.reply(hasBody: method != "HEAD")
  }

  /// The bytes of a request that closes its connection.
  static func bytes(
    _ method: String, _ path: String, body: [UInt8]?, headers: [String: String]
  ) -> [UInt8] {
    var lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1", "Connection: close"]
    lines += headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    if let body, headers["Transfer-Encoding"] == nil, headers["Content-Length"] == nil {
      lines.append("Content-Length: \(body.count)")
    }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? [])
  }
}
