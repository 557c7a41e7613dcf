// Notifies systemd of the service's state (sd_notify(3)) with a datagram to the socket in $NOTIFY_SOCKET.
// Without that variable nothing is sent. Thread-safe.

internal import Formats
internal import Glibc

/// Sends notifications to the service manager.
public struct ServiceNotifier: Sendable {
  private let address: [UInt8]?
  /// The watchdog interval that the service manager expects; nil when the watchdog is off.
  public let watchdogInterval: Duration?

  /// - Parameter environment: `NOTIFY_SOCKET`, and `WATCHDOG_USEC` with `WATCHDOG_PID`
  ///   (sd_watchdog_enabled(3)).
  public init(environment: Environment = .process) {
    let path = Array((environment["NOTIFY_SOCKET"] ?? "").utf8)
    // An abstract socket is written with `@` and begins with NUL; any other address is a path.
    if path.first == UInt8(ascii: "@") {
      address = [0] + path.dropFirst()
    } else {
      address = path.first == UInt8(ascii: "/") ? path : nil
    }
    let isOurs = environment["WATCHDOG_PID"].flatMap { Int32($0) }.map { $0 == getpid() } ?? true
    let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
    watchdogInterval = isOurs && microseconds >= 1000 ? .microseconds(microseconds) : nil
  }

  public func ready(status: String) { send("READY=1\nSTATUS=\(status)") }
  public func stopping(status: String) { send("STOPPING=1\nSTATUS=\(status)") }
  public func watchdog() { send("WATCHDOG=1") }

  /// Extends the start timeout of the unit to this time from now (EXTEND_TIMEOUT_USEC).
  public func extendTimeout(to duration: Duration) {
    send("EXTEND_TIMEOUT_USEC=\(duration.nanoseconds / 1000)")
  }

  /// `RELOADING=1` needs the monotonic time, so that the manager can distinguish it from an older `READY=1`.
  public func reloading(now: MonotonicInstant) {
    send("RELOADING=1\nMONOTONIC_USEC=\(now.nanoseconds / 1000)")
  }

  /// Ignores errors: the service works without the service manager.
  private func send(_ message: String) {
    guard let address else { return }
    var target = sockaddr_un()
    target.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: target.sun_path)
    guard address.count < capacity else { return }
    unsafe withUnsafeMutableBytes(of: &target.sun_path) { unsafe $0.copyBytes(from: address) }
    let made = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard let sender = try? FileDescriptor(made, of: "socket") else { return }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size - capacity + address.count)
    let bytes = Array(message.utf8)
    unsafe withUnsafePointer(to: &target) { pointer in
      _ = unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe sendto(sender.number, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
      }
    }
  }
}
