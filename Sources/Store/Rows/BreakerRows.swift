// The statements on `breakers`, and the writer's cache of them. The writer's thread.

internal import Domain

final class BreakerRows {
  private let saving: StoreStatement
  /// Every breaker. In receiptd only this writer changes them, so the cache equals the rows; receiptctl's is
  /// as old as its connection.
  private(set) var byPlace: [AppDestination: Breaker] = [:]
  private var mayDiffer = false

  init(_ connection: StoreConnection) throws(StoreFault) {
    saving = try connection.prepare(
      """
      INSERT INTO breakers (
        app, state, failures, probe_at, rest_until, since, cause, paused_ms, detail, destination)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
      ON CONFLICT (app, destination) DO UPDATE SET
        state = ?2, failures = ?3, probe_at = ?4, rest_until = ?5, since = ?6, cause = ?7, paused_ms = ?8,
        detail = ?9
      """)
    byPlace = try Self.all(connection)
  }

  static func all(_ connection: StoreConnection) throws(StoreFault) -> [AppDestination: Breaker] {
    var breakers: [AppDestination: Breaker] = [:]
    let reading = try connection.prepare(
      """
      SELECT app, state, failures, probe_at, rest_until, since, cause, paused_ms, detail, destination
      FROM breakers
      """)
    try reading.forEach { row throws(StoreFault) in
      let place = AppDestination(try row.text(0), try row.text(9))
      breakers[place] = Breaker(
        state: Breaker.State(rawValue: try row.text(1)) ?? .closed, failures: Int(clamping: row.integer(2)),
        probeAt: row.timestamp(3), restUntil: row.timestamp(4), since: row.timestamp(5),
        cause: try row.optionalText(6).map(Reason.init), detail: try row.optionalText(8),
        pausedTime: row.duration(7))
    }
    return breakers
  }

  func save(_ breaker: Breaker, of place: AppDestination) throws(StoreFault) {
    guard byPlace[place] != breaker else { return }
    try saving.run([
      .text(place.app), .text(breaker.state.rawValue), .integer(Int64(breaker.failures)),
      .time(breaker.probeAt),
      .time(breaker.restUntil), .time(breaker.since), .optional(breaker.cause?.text),
      .duration(breaker.pausedTime), .optional(breaker.detail), .text(place.destination),
    ])
    byPlace[place] = breaker
  }

  /// How long the destination's configuration was wrong in total.
  func pausedTime(_ place: AppDestination, now: Timestamp) -> Duration {
    byPlace[place]?.pausedTime(now: now) ?? .zero
  }

  /// Invalidates the cache after a rollback: it may contain changes that were rolled back.
  func invalidate() { mayDiffer = true }

  /// Reads the breakers again if the cache is invalid. Called before each use, not at the rollback, because
  /// the database may be unreadable for a while.
  func refresh(_ connection: StoreConnection) throws(StoreFault) {
    guard mayDiffer else { return }
    byPlace = try Self.all(connection)
    mayDiffer = false
  }
}
