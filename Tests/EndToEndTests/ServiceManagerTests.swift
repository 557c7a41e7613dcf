// The notifications to systemd (sd_notify(3)).

import Formats
import Glibc
import HTTPServer
import Platform
import TestSupport
import Testing

/// A datagram socket like the service manager's. Owns its descriptor.
private final class NotifySocket {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError.last("socket") }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let descriptor = descriptor
    let code = unsafe withUnsafeBytes(of: &address) { bytes in
      unsafe bytes.withMemoryRebound(to: sockaddr.self) {
        unsafe bind(descriptor, $0.baseAddress, socklen_t(bytes.count))
      }
    }
    guard code == 0 else { throw SystemError.last("bind") }
  }

  deinit { close(descriptor) }

  /// Waits for the next message other than a watchdog keep-alive.
  func next() throws -> String {
    try waitFor("a message to the service manager") {
      let message = receive()
      return message == "WATCHDOG=1" ? nil : message
    }
  }

  /// The next message, if one arrives soon.
  func receive() -> String? {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&entry, 1, 1000) > 0 else { return nil }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }
}

@Suite(.withDaemonLog) struct ServiceManagerTests {
  @Test("systemd gets READY, watchdog signals, RELOADING with its time, READY again, and STOPPING")
  func notifications() throws {
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try Relay(destination)
    let socket = try NotifySocket(relay.directory.file("notify.sock"))
    let environment = ["NOTIFY_SOCKET": relay.directory.file("notify.sock"), "WATCHDOG_USEC": "400000"]
    try Relay.$logPath.withValue(relay.logPath) {
      try relay.start(environment: environment)
      let status = "STATUS=serving on port \(relay.outside.api.port)"
      #expect(try socket.next() == "READY=1\n\(status)")
      for _ in 0..<2 {
        #expect(try waitFor("a watchdog signal") { socket.receive() } == "WATCHDOG=1")
      }
      let before = MonotonicInstant.now().nanoseconds / 1000
      relay.signal(SIGHUP)
      let reloading = try socket.next().split(separator: "\n")
      let time = try #require(reloading.last?.split(separator: "=").last.flatMap { Int64($0) })
      #expect(reloading.first == "RELOADING=1")
      #expect(reloading.last?.hasPrefix("MONOTONIC_USEC=") == true)
      #expect((before...MonotonicInstant.now().nanoseconds / 1000).contains(time))
      #expect(try socket.next() == "READY=1\n\(status)")
      // A refused configuration also ends the reload.
      try relay.directory.write("{", to: "receiptd.json5")
      relay.signal(SIGHUP)
      #expect(try socket.next().hasPrefix("RELOADING=1"))
      #expect(try socket.next() == "READY=1\n\(status)")
      #expect(try relay.stop() == 0)
      #expect(try socket.next().hasPrefix("STOPPING=1"))
    }
  }

  @Test func `A line has its priority in the journal, and none elsewhere`() throws {
    try withRelay { relay, _ in
      #expect(relay.log.split(separator: "\n").allSatisfy { !$0.hasPrefix("<") })
      #expect(try relay.stop() == 0)
      let start = relay.log.utf8.count
      // systemd identifies the stream that it created by device and inode.
      var file = stat()
      try #require(unsafe stat(relay.logPath, &file) == 0)
      try relay.start(environment: ["JOURNAL_STREAM": "\(file.st_dev):\(file.st_ino)"])
      #expect(try relay.stop() == 0)
      let lines = TextFile.read(relay.logPath, from: start).split(separator: "\n")
      #expect(!lines.isEmpty, "\(lines)")
      #expect(lines.allSatisfy { $0.hasPrefix("<6>") }, "\(lines)")
    }
  }
}
