// Interrupts a connection's statements from another thread. Thread-safe.

internal import CSQLite

/// Interrupts a connection (https://www.sqlite.org/c3ref/interrupt.html). It keeps the connection open,
/// because `sqlite3_interrupt` needs an open handle.
@safe public struct Interrupter: @unchecked Sendable {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  /// Makes running statements fail with the kind `interrupted`. Later statements are not affected.
  public func interrupt() { unsafe sqlite3_interrupt(connection.handle) }
}
