// All tests of the PostgreSQL wrapper, which need a server.

import PostgresStore
import TestSupport
import Testing

/// Skipped where no server is installed.
@Suite(.enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
enum PostgresTests {}

/// Runs `body` and returns its error.
func failure(_ body: () throws(PostgresError) -> Void) -> PostgresError? {
  do throws(PostgresError) {
    try body()
    return nil
  } catch {
    return error
  }
}

/// A connection to a new database.
func connectToNewDatabase() throws -> PostgresConnection {
  let server = try PostgresServer.shared.get()
  return try server.connect(server.makeDatabase())
}
