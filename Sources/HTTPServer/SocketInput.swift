// Reads from the kernel when a socket last got input, including input that libmicrohttpd has already read.
// Called from any thread that may use the descriptor.

internal import CMicroHTTPD
internal import Glibc
internal import Platform

/// A socket's input.
enum SocketInput {
  /// The kernel counts in ticks of up to 10 ms, and rounds.
  private static let slack: Duration = .milliseconds(20)

  /// Whether data arrived after `moment`, read or not. False where the kernel does not report it: on any
  /// socket but TCP.
  static func came(after moment: MonotonicInstant, on descriptor: Int32) -> Bool {
    guard let quiet = quietTime(descriptor) else { return false }
    return MonotonicInstant.now().duration(since: moment) - quiet > slack
  }

  /// Whether the socket holds unread data.
  static func isUnread(on descriptor: Int32) -> Bool {
    guard descriptor >= 0 else { return false }
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
  }

  /// The time since the last data arrived; without any, since the connection began (tcp(7), TCP_INFO).
  private static func quietTime(_ descriptor: Int32) -> Duration? {
    var info = tcp_info()
    let whole = socklen_t(MemoryLayout<tcp_info>.size)
    var size = whole
    guard unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &size) == 0, size == whole else {
      return nil
    }
    return .milliseconds(info.tcpi_last_data_recv)
  }
}
