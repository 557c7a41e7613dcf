// Requests without a server, and a client on a raw socket, so that tests control every byte.

import Glibc
import Platform
import TestSupport

@testable import HTTPServer

enum RequestSamples {
  static func head(
    _ method: String, _ target: String, _ fields: [(name: String, value: String)] = [],
    from address: String = "127.0.0.1"
  ) -> RequestHead {
    rawHead(method, target, fields.map { ($0.name, Array($0.value.utf8)) }, from: address)
  }

  /// A head whose values need not be valid text.
  static func rawHead(
    _ method: String, _ target: String, _ fields: [(name: String, value: [UInt8])],
    from address: String = "127.0.0.1"
  ) -> RequestHead {
    var headers = HeaderFields()
    for (name, value) in fields {
      let name = Array(name.utf8)
      unsafe name.withUnsafeBytes { name in
        unsafe value.withUnsafeBytes { value in unsafe headers.append(name: name, value: value) }
      }
    }
    return RequestHead(method: method, target: target, remoteAddress: address, fields: headers)
  }

  static func post(
    _ body: String, type: String = "application/json", _ fields: [(name: String, value: String)] = []
  ) -> Request {
    post(Array(body.utf8), type: type, fields)
  }

  static func post(
    _ body: [UInt8], type: String = "application/json", _ fields: [(name: String, value: String)] = []
  ) -> Request {
    Request(head: head("POST", "/v1/shop/contexts", [("Content-Type", type)] + fields), body: body)
  }
}

/// One connection to a server on this machine. Owns its descriptor. One thread; every wait has a timeout.
final class RawClient {
  private let descriptor: Int32
  private var received: [UInt8] = []

  struct Reply {
    let status: Int
    let head: String
    let body: [UInt8]

    func header(_ name: String) -> String? {
      let prefix = name.lowercased() + ":"
      return head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(prefix) }
        .map { String($0.dropFirst(prefix.count).drop { $0 == " " }) }
    }
  }

  init(port: UInt16) throws(SystemError) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let descriptor = descriptor
    guard Loopback.connect(descriptor, to: port) == 0 else { throw .last("connect") }
    // struct timeval, whose module depends on what is imported first.
    var patience: (seconds: Int, microseconds: Int) = (300, 0)
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout.size(ofValue: patience)))
  }

  deinit { close(descriptor) }

  func get(_ target: String) throws(SystemError) { try send("GET \(target) HTTP/1.1\r\nHost: test\r\n\r\n") }

  func post(_ target: String, _ body: String, _ fields: String = "") throws(SystemError) {
    try send(
      "POST \(target) HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n\(fields)"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  func send(_ text: String) throws(SystemError) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let descriptor = descriptor
      let sent = unsafe rest.withUnsafeBytes {
        unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { throw .last("send") }
      rest = rest.dropFirst(sent)
    }
  }

  /// Reads the next answer.
  /// - Parameter hasBody: false after a HEAD.
  func reply(hasBody: Bool = true) throws(SystemError) -> Reply {
    while true {
      let text = String(decoding: received, as: UTF8.self)
      if let end = text.firstRange(of: "\r\n\r\n") {
        let head = String(text[..<end.lowerBound])
        let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let named = Reply(status: status, head: head, body: []).header("Content-Length").flatMap { Int($0) }
        // RFC 9110 §15.4.5: a 304 has no body, whatever its fields say.
        let length = hasBody && status != 304 ? named : 0
        let start = head.utf8.count + 4
        if let length, received.count >= start + length {
          let body = Array(received[start..<(start + length)])
          received.removeFirst(start + length)
          return Reply(status: status, head: head, body: body)
        }
      }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { throw .last("recv") }
      received += buffer[..<count]
    }
  }

  /// Reads everything until the server closes the connection.
  func untilClosed() -> String {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return String(decoding: received, as: UTF8.self) }
      received += buffer[..<count]
    }
  }

  /// Whether unread bytes have arrived.
  var hasNews: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, 0) > 0
  }
}
