// The writer's statement on `audit`. The writer's thread.

final class AuditRows {
  private let inserting: StoreStatement

  init(_ connection: StoreConnection) throws(StoreFault) {
    inserting = try connection.prepare(
      """
      INSERT INTO audit (at, actor, action, app, subject, reason, details)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
      """)
  }

  func insert(_ entry: AuditEntry) throws(StoreFault) {
    try inserting.run([
      .time(entry.at), .text(entry.actor), .text(entry.action), .optional(entry.app),
      .optional(entry.subject),
      .optional(entry.reason), .text(entry.details),
    ])
  }
}
