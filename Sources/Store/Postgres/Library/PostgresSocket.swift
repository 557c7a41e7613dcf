// Waits for a connection's socket with a deadline: libpq's blocking calls have none.

internal import Formats
internal import Glibc
internal import Platform

extension PostgresConnection {
  /// Waits before another attempt.
  public static func pause(_ time: Duration) {
    _ = poll(nil, 0, Int32(clamping: time.milliseconds))
  }
}

enum PostgresSocket {
  /// Waits with poll(2) until the socket can be read or written. Looks at it at least once, also after the
  /// deadline.
  /// - Returns: false if it was not ready in time. A socket with an error, or none, counts as ready: the
  ///   next call of libpq reports that.
  static func wait(_ socket: Int32, reading: Bool, writing: Bool, until deadline: MonotonicInstant) -> Bool {
    guard socket >= 0 else { return true }
    let events = Int16(reading ? POLLIN : 0) | Int16(writing ? POLLOUT : 0)
    var entry = pollfd(fd: socket, events: events, revents: 0)
    while true {
      let left = deadline.duration(since: .now())
      // Rounded up: otherwise the last millisecond would be a loop of waits of 0.
      let time = left > .zero ? Int32(min(left.milliseconds, 1 << 30) + 1) : 0
      let found = unsafe poll(&entry, 1, time)
      if found > 0 || (found < 0 && errno != EINTR) { return true }
      if left <= .zero { return false }
    }
  }
}
