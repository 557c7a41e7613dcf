// Notifications: short messages between the clients of a database.

internal import CPostgreSQL

/// A message that a connection sent with NOTIFY (https://www.postgresql.org/docs/15/sql-notify.html).
public struct PostgresNotification: Sendable, Equatable {
  public var channel: String
  public var payload: String

  /// The notifications that libpq has read and not returned yet.
  static func received(_ handle: OpaquePointer) -> [PostgresNotification] {
    var found: [PostgresNotification] = []
    while let message = unsafe cpg_PQnotifies(handle) {
      defer { unsafe cpg_PQfreemem(message) }
      unsafe found.append(
        PostgresNotification(
          channel: String(cString: message.pointee.relname), payload: String(cString: message.pointee.extra)))
    }
    return found
  }
}

// MARK: - PostgresNotices

// Messages of the server that belong to no result: warnings, and the reason why it ends a session.

/// The notices of a connection. libpq calls it on the connection's thread.
final class PostgresNotices {
  /// The SQLSTATEs of the warnings since the start of the present statement.
  var warnings: [String] = []
  /// The error with which the server ended the session between two calls.
  private(set) var end: PostgresError?

  func note(_ result: OpaquePointer) {
    // PG_DIAG_SEVERITY_NONLOCALIZED, PG_DIAG_SQLSTATE, PG_DIAG_MESSAGE_PRIMARY.
    let (severity, state) = unsafe (Self.field("V", of: result), Self.field("C", of: result) ?? "")
    if severity == "WARNING" { warnings.append(state) }
    guard severity == "FATAL" || severity == "PANIC" else { return }
    end = PostgresError(
      state: state, endsSession: true, message: unsafe Self.field("M", of: result) ?? "", constraint: nil,
      operation: "wait")
  }

  /// A field of an error or a notice (https://www.postgresql.org/docs/15/protocol-error-fields.html).
  static func field(_ code: Unicode.Scalar, of result: OpaquePointer) -> String? {
    unsafe cpg_PQresultErrorField(result, Int32(code.value)).map { unsafe String(cString: $0) }
  }
}
