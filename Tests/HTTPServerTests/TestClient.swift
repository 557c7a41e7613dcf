// A client on a raw socket, so that tests control every byte. Every wait has a timeout.

import Formats
import Glibc
import HTTPServer
import Platform
import TestSupport

enum TestClientError: Error {
  case system(SystemError)
  case timedOut
  case closed
  case notHTTP(String)
}

/// The server's answer to one request.
struct Reply {
  let status: Int
  let headers: [String]
  let body: String

  func header(_ name: String) -> String? {
    let prefix = name.lowercased() + ":"
    return headers.first { $0.lowercased().hasPrefix(prefix) }
      .map { String($0.dropFirst(prefix.count).drop { $0 == " " }) }
  }

  var closes: Bool { header("Connection")?.lowercased() == "close" }
}

/// One TCP connection to a server on this machine. Owns its descriptor. One thread.
final class TestClient {
  private let descriptor: Int32
  private var received: [UInt8] = []
  private static let patience: Duration = .seconds(300)

  /// - Parameter source: the last number of the client's address: 1 is 127.0.0.1.
  init(_ server: Server, source: UInt32 = 1) throws(TestClientError) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let descriptor = descriptor
    guard Loopback.bind(descriptor, number: source) == 0 else { throw .system(.last("bind")) }
    guard Loopback.connect(descriptor, to: server.port) == 0 else { throw .system(.last("connect")) }
  }

  deinit { close(descriptor) }

  /// Ends the connection with RST instead of FIN (SO_LINGER of zero, socket(7)). Unusable afterwards.
  func reset() {
    var now = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    // connect(2) to AF_UNSPEC dissolves the connection, which sends the RST.
    var nowhere = sockaddr(
      sa_family: sa_family_t(AF_UNSPEC), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    unsafe connect(descriptor, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
  }

  /// Closes the sending side; the server sees the end of input.
  func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  func send(_ text: String) throws(TestClientError) { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws(TestClientError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let descriptor = descriptor
      let sent = unsafe rest.withUnsafeBytes {
        unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { throw .system(.last("send")) }
      rest = rest.dropFirst(sent)
    }
  }

  /// Sends the first piece, then one letter at a time, until the server sends something or closes.
  func drip(_ start: String, every: Duration) throws(TestClientError) {
    try send(start)
    let end = MonotonicInstant.now().advanced(by: Self.patience)
    while !isReadable(within: every) {
      guard MonotonicInstant.now() < end else { throw .timedOut }
      // Fails if the server has just closed; its data can still be read.
      guard (try? send("a")) != nil else { return }
    }
  }

  /// The next response. Content-Length gives the length of its body, unless it answers a HEAD request.
  func response(toHead isHead: Bool = false) throws(TestClientError) -> Reply {
    let end: [UInt8] = Array("\r\n\r\n".utf8)
    var headEnd = received.firstRange(of: end)
    while headEnd == nil {
      guard try receive() else { throw .closed }
      headEnd = received.firstRange(of: end)
    }
    guard let headEnd else { throw .closed }
    let lines = String(decoding: received[..<headEnd.lowerBound], as: UTF8.self).split(separator: "\r\n")
    let words = (lines.first ?? "").split(separator: " ")
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
      throw .notHTTP(String(decoding: received, as: UTF8.self))
    }
    let headers = lines.dropFirst().map { String($0) }
    let length =
      Reply(status: status, headers: headers, body: "").header("Content-Length").flatMap { Int($0) } ?? 0
    let total = headEnd.upperBound + (isHead ? 0 : length)
    while received.count < total {
      guard try receive() else { throw .closed }
    }
    let body = String(decoding: received[headEnd.upperBound..<total], as: UTF8.self)
    received.removeFirst(total)
    return Reply(status: status, headers: headers, body: body)
  }

  /// Waits for the server to close.
  /// - Returns: the data that was not read before.
  func rest() throws(TestClientError) -> String {
    while try receive() {}
    return String(decoding: received, as: UTF8.self)
  }

  /// Waits until the data that was not read before ends with `end`.
  /// - Returns: that data.
  func text(endingWith end: String) throws(TestClientError) -> String {
    while !received.suffix(end.utf8.count).elementsEqual(end.utf8) {
      guard try receive() else { throw .closed }
    }
    defer { received = [] }
    return String(decoding: received, as: UTF8.self)
  }

  func isReadable(within time: Duration) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, Int32(clamping: time.milliseconds)) > 0
  }

  /// - Returns: false at the end of input or after a reset.
  private func receive() throws(TestClientError) -> Bool {
    guard isReadable(within: Self.patience) else { throw .timedOut }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    received += buffer[..<count]
    return true
  }
}

extension Array where Element: Equatable {
  fileprivate func firstRange(of part: [Element]) -> Range<Int>? {
    guard count >= part.count else { return nil }
    return (0...(count - part.count)).first { Array(self[$0..<($0 + part.count)]) == part }
      .map { $0..<($0 + part.count) }
  }
}
