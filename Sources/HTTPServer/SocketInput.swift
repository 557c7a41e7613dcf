// What the kernel knows of a socket's input that libmicrohttpd has already read. Any thread that may use the
// descriptor.

internal import CMicroHTTPD
internal import Glibc
internal import Platform

/// A socket's input.
enum SocketInput {
  /// The kernel counts in ticks of up to 10 ms, and rounds.
  private static let slackMilliseconds: Int64 = 20

  /// Whether data came after `moment`, be it read by now or not. False also where the kernel does not say: on
  /// anything but TCP.
  static func came(after moment: MonotonicInstant, on descriptor: Int32) -> Bool {
    guard let quiet = quietMilliseconds(descriptor) else { return false }
    return MonotonicInstant.now().milliseconds(since: moment) - quiet > slackMilliseconds
  }

  /// Whether data lies in the socket that nobody has read yet.
  static func isUnread(on descriptor: Int32) -> Bool {
    guard descriptor >= 0 else { return false }
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
  }

  /// How long ago the last data came; without any, how long the connection exists (tcp(7), TCP_INFO).
  private static func quietMilliseconds(_ descriptor: Int32) -> Int64? {
    var info = tcp_info()
    let whole = socklen_t(MemoryLayout<tcp_info>.size)
    var size = whole
    guard unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &size) == 0, size == whole else {
      return nil
    }
    return Int64(info.tcpi_last_data_recv)
  }
}
