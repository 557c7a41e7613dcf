// Asks the server to end a statement, from another thread. Thread-safe.

internal import CPostgreSQL

/// Cancels statements of one connection (https://www.postgresql.org/docs/15/libpq-cancel.html). It stays
/// valid when the connection is closed.
///
/// Only for connections that only read: the request can arrive late and end a later statement, and a COMMIT
/// that is ended while it waits for the standby is not safe.
@safe public final class PostgresCanceller: @unchecked Sendable {
  private let handle: OpaquePointer

  /// Acquires the ownership.
  init(_ handle: OpaquePointer) { unsafe self.handle = handle }

  deinit { unsafe cpg_PQfreeCancel(handle) }

  /// Asks the server to end the running statement, which then fails with the kind `timedOut`. The server
  /// ignores a request that arrives between two statements. Opens a separate connection, without
  /// encryption, and waits until the server has closed it, without a time limit.
  /// - Returns: whether the request was sent.
  @discardableResult
  public func cancel() -> Bool {
    var message = [CChar](repeating: 0, count: 256)
    return unsafe cpg_PQcancel(handle, &message, Int32(message.count)) == 1
  }
}
