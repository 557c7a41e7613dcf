// Notifications: short messages between the clients of a database.

internal import CPostgreSQL

/// A message that a connection sent with NOTIFY (https://www.postgresql.org/docs/15/sql-notify.html).
public struct PostgresNotification: Sendable, Equatable {
  public var channel: String
  public var payload: String

  public init(channel: String, payload: String) {
    self.channel = channel
    self.payload = payload
  }

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
