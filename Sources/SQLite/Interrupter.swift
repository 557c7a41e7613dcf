// Ends what a connection does from another thread. Any thread.

internal import CSQLite

/// Interrupts a connection (https://www.sqlite.org/c3ref/interrupt.html). It keeps the connection open, so
/// that there is always one to interrupt.
@safe public struct Interrupter: @unchecked Sendable {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  /// Ends the statements that run now with the kind `interrupted`; later ones run as ever.
  public func interrupt() { unsafe sqlite3_interrupt(connection.handle) }
}
