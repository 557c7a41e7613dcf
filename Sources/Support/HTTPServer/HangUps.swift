// Detects a client that closes its connection while its request waits. libmicrohttpd does not watch the
// sockets of suspended connections (microhttpd.h, MHD_suspend_connection), so such a connection would keep
// its place until its answer.

internal import CMicroHTTPD
internal import Glibc
internal import Platform

/// The descriptors of connections whose requests wait, in a separate epoll set (epoll(7)), and the loop that
/// waits for hang-ups.
///
/// Owns the set and an eventfd(2) that ends the loop. The connections' descriptors belong to libmicrohttpd. A
/// connection adds and removes its descriptor under its lock, and removes it at the latest when libmicrohttpd
/// announces the close. So the set never holds a descriptor that is closed or that belongs to another
/// connection. An event that was fetched before its removal finds no entry, because tickets are never reused.
@safe final class HangUps: @unchecked Sendable {
  private struct State {
    var connections: [UInt64: ClientConnection] = [:]
    /// Ticket 0 ends the thread.
    var lastTicket: UInt64 = 0
  }

  private let state = Monitor(State())
  private let set: FileDescriptor
  private let end: FileDescriptor

  init() throws(SystemError) {
    set = try FileDescriptor(epoll_create1(Int32(EPOLL_CLOEXEC)), of: "epoll_create1")
    end = try FileDescriptor(eventfd(0, Int32(EFD_CLOEXEC)), of: "eventfd")
    guard CMicroHTTPD_watchInput(set.number, end.number, 0) == 0 else { throw .last("epoll_ctl") }
  }

  /// Watches a connection's descriptor for one hang-up. Called under the connection's lock.
  /// - Returns: the ticket to remove it with; nil when the kernel has no room for it.
  func add(_ connection: ClientConnection, _ descriptor: Int32) -> UInt64? {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      state.connections[state.lastTicket] = connection
      return state.lastTicket
    }
    if CMicroHTTPD_watchHangUp(set.number, descriptor, ticket) == 0 { return ticket }
    state.withLock { $0.connections[ticket] = nil }
    return nil
  }

  /// Called under the connection's lock, while the descriptor is still open.
  func remove(_ ticket: UInt64, _ descriptor: Int32) {
    _ = CMicroHTTPD_unwatch(set.number, descriptor)
    state.withLock { $0.connections[ticket] = nil }
  }

  /// Runs until `stop`. Calls the application.
  func run() {
    var tickets = [UInt64](repeating: 0, count: 64)
    while true {
      let count = unsafe CMicroHTTPD_waitForEvents(set.number, &tickets, Int32(tickets.count))
      if count < 0 && errno == EINTR { continue }
      // No other error is possible: the set is open and the buffer is valid (epoll_wait(2)).
      guard count > 0 else { return }
      for ticket in tickets[..<Int(count)] {
        if ticket == 0 { return }
        let connection = state.withLock { $0.connections[ticket] }
        connection?.hungUp(ticket)
      }
    }
  }

  /// Ends `run`.
  func stop() { _ = eventfd_write(end.number, 1) }
}
