// The statements on `alerts`. The writer's thread.

internal import Domain

final class AlertRows {
  private let saving: StoreStatement
  private let forgetting: StoreStatement

  init(_ connection: StoreConnection) throws(StoreFault) {
    saving = try connection.prepare(
      """
      INSERT INTO alerts (destination, condition, app, firing, since, told_at, unanswered)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT (destination, condition, app)
        DO UPDATE SET firing = ?4, since = ?5, told_at = ?6, unanswered = ?7
      """)
    forgetting = try connection.prepare(
      "DELETE FROM alerts WHERE destination = ?1 AND condition = ?2 AND app = ?3")
  }

  func save(_ record: AlertRecord) throws(StoreFault) {
    try saving.run([
      .text(record.key.destination), .text(record.key.condition), .text(record.key.app ?? ""),
      .integer(record.isFiring ? 1 : 0), .time(record.since), .time(record.notifiedAt),
      .integer(record.isUnanswered ? 1 : 0),
    ])
  }

  func forget(_ key: AlertRecord.Key) throws(StoreFault) {
    try forgetting.run([.text(key.destination), .text(key.condition), .text(key.app ?? "")])
  }
}
