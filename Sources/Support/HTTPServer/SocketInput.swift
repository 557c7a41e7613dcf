// Reads from the kernel what input a socket got, including input that libmicrohttpd has already read. Called
// from any thread that may use the descriptor.

internal import CMicroHTTPD
internal import Glibc

/// A socket's input.
enum SocketInput {
  /// The bytes that the client has sent so far, read or not. Counting is exact where times are not: the
  /// kernel's times are in ticks, and on a busy machine a thread reads the clock later than the event.
  /// Nil where the kernel does not count: on any socket but TCP.
  static func received(on descriptor: Int32) -> Int64? {
    let count = CMicroHTTPD_bytesReceived(descriptor)
    return count >= 0 ? count : nil
  }

  /// Whether the socket holds unread data.
  static func isUnread(on descriptor: Int32) -> Bool {
    guard descriptor >= 0 else { return false }
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
  }
}
