// The messages to the service manager, on a real socket.

import Glibc
import Platform
import TestSupport
import Testing

/// A bound datagram socket like the service manager's. Owns it.
private final class NotifySocket {
  private let descriptor: Int32

  /// - Parameter name: a path, or NUL and a name for one in the abstract namespace (unix(7)).
  init(_ name: [UInt8]) throws(SystemError) {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .last("socket") }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    let length = socklen_t(MemoryLayout<sockaddr_un>.size - capacity + name.count)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
    let descriptor = descriptor
    let code = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, length) }
    }
    guard code == 0 else { throw .last("bind") }
    // struct timeval, whose module depends on what is imported first.
    var patience: (seconds: Int, microseconds: Int) = (300, 0)
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout.size(ofValue: patience)))
  }

  deinit { close(descriptor) }

  func next() -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
  }
}

@Suite("The service manager") struct ServiceNotifierTests {
  private static func notifier(_ socket: String?, _ more: [String: String] = [:]) -> ServiceNotifier {
    var values = more
    values["NOTIFY_SOCKET"] = socket
    return ServiceNotifier(environment: Environment(values))
  }

  private static func expectEverything(_ notifier: ServiceNotifier, at socket: NotifySocket) {
    notifier.ready(status: "serving on port 8080")
    #expect(socket.next() == "READY=1\nSTATUS=serving on port 8080")
    notifier.reloading(now: MonotonicInstant(nanoseconds: 12_345_678_999))
    #expect(socket.next() == "RELOADING=1\nMONOTONIC_USEC=12345678")
    notifier.watchdog()
    #expect(socket.next() == "WATCHDOG=1")
    notifier.stopping(status: "finishing what is in flight")
    #expect(socket.next() == "STOPPING=1\nSTATUS=finishing what is in flight")
  }

  @Test func `Notifications arrive at a socket with a path`() throws {
    let folder = try TestFolder()
    let path = folder.path + "/socket"
    Self.expectEverything(Self.notifier(path), at: try NotifySocket(Array(path.utf8) + [0]))
  }

  @Test func `Notifications arrive at an abstract socket`() throws {
    let name = "receipt-relay-test-\(getpid())"
    Self.expectEverything(Self.notifier("@" + name), at: try NotifySocket([0] + Array(name.utf8)))
  }

  @Test(arguments: [
    nil, "", "@", "/", "relative", "/tmp/receipt-relay-nobody-listens-here", "vsock:2:1234",
    "/" + String(repeating: "x", count: 107), "@" + String(repeating: "x", count: 5000),
  ])
  func `Without a listener nothing happens`(socket: String?) {
    let notifier = Self.notifier(socket)
    notifier.ready(status: "x")
    notifier.watchdog()
    #expect(notifier.watchdogInterval == nil)
  }

  @Test(
    "The watchdog is on when the manager requests it from this process",
    arguments: [
      (["WATCHDOG_USEC": "30000000"], 30_000), (["WATCHDOG_USEC": "1000"], 1),
      (["WATCHDOG_USEC": "999"], nil),
      (["WATCHDOG_USEC": "0"], nil), (["WATCHDOG_USEC": "-5"], nil), (["WATCHDOG_USEC": "soon"], nil),
      ([:], nil),
      (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"], nil),
      (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": String(getpid())], 30_000),
    ] as [([String: String], Int64?)])
  func watchdog(values: [String: String], milliseconds: Int64?) {
    #expect(Self.notifier(nil, values).watchdogInterval == milliseconds.map { .milliseconds($0) })
  }
}
