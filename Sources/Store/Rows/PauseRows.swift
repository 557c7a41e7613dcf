// The statements on `pauses`. The writer's thread.

internal import Domain

final class PauseRows {
  private let connection: StoreConnection
  private let readsAhead: Bool
  private let reading: StoreStatement
  /// Those of the open transaction: another program may change them between two.
  private var byApp: [AppSlug: AppPause] = [:]

  init(_ connection: StoreConnection) throws(StoreFault) {
    self.connection = connection
    readsAhead = connection.engine.readAhead != nil
    reading = try connection.prepare("SELECT \(Self.columns) FROM pauses")
  }

  private static let columns = "app, began_at, ends_at, actor, reason, paused_ms, retry_at"
  static let oneSQL = "SELECT \(columns) FROM pauses WHERE app = ?1"

  /// Those of a batch. There are few rows: only apps that were paused have one.
  func reads() -> [BulkRead] {
    byApp = [:]
    return [BulkRead(Self.columns, ofAll: "pauses")]
  }

  func add(_ row: StoreRow) throws(StoreFault) {
    let (app, pause) = try Self.pause(row)
    byApp[app] = pause
  }

  /// Reads them for the transaction that begins.
  func begin() throws(StoreFault) { if !readsAhead { byApp = try Self.all(reading) } }

  static func all(_ connection: StoreConnection) throws(StoreFault) -> [AppSlug: AppPause] {
    try all(connection.prepare("SELECT \(columns) FROM pauses"))
  }

  private static func all(_ statement: StoreStatement) throws(StoreFault) -> [AppSlug: AppPause] {
    var pauses: [AppSlug: AppPause] = [:]
    try statement.forEach { row throws(StoreFault) in
      let (app, pause) = try pause(row)
      pauses[app] = pause
    }
    return pauses
  }

  /// A row has a beginning: without a pause it has one of no length, which is none.
  static func pause(_ row: StoreRow) throws(StoreFault) -> (AppSlug, AppPause) {
    let (since, until) = (row.timestamp(1), row.timestamp(2))
    let isNone = since == until
    return (
      try row.text(0),
      AppPause(
        since: isNone ? nil : since, until: isNone ? nil : until, actor: try row.text(3),
        reason: try row.optionalText(4), earlier: row.duration(5),
        retryAt: row.timestamp(6))
    )
  }

  /// The app's; one that holds nothing if it was never paused.
  subscript(app: AppSlug) -> AppPause { byApp[app] ?? AppPause() }

  func save(_ pause: AppPause, of app: AppSlug) throws(StoreFault) {
    let since = pause.since ?? pause.retryAt
    try connection.prepare(
      """
      INSERT INTO pauses (app, began_at, ends_at, actor, reason, paused_ms, retry_at)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
      ON CONFLICT (app) DO UPDATE SET
        began_at = ?2, ends_at = ?3, actor = ?4, reason = ?5, paused_ms = ?6, retry_at = ?7
      """
    ).run([
      .text(app), .time(since), .time(pause.since == nil ? since : pause.until), .text(pause.actor),
      .optional(pause.reason), .duration(pause.earlier), .time(pause.retryAt),
    ])
    byApp[app] = pause
  }

  /// Moves the pauses by a step of the clock.
  /// - Parameter noticed: those that began since then already follow the new clock.
  func shift(by step: Duration, now: Timestamp, exceptSince noticed: Timestamp) throws(StoreFault) {
    try connection.prepare(
      """
      UPDATE pauses SET began_at = began_at + ?1, ends_at = ends_at + ?1
      WHERE NOT began_at BETWEEN ?2 AND ?3
      """
    ).run([.duration(step), .time(noticed), .time(now)])
    byApp = try Self.all(reading)
  }

  /// Moves the pauses that a clock noted while it ran ahead: each keeps its length.
  func bringBack(to now: Timestamp) throws(StoreFault) {
    try connection.prepare(
      "UPDATE pauses SET ends_at = ends_at - (began_at - ?1), began_at = ?1 WHERE began_at > ?1"
    ).run([.time(now)])
    byApp = try Self.all(reading)
  }
}
