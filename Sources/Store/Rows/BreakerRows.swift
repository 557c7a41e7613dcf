// The statements on `breakers`, and the writer's cache of them. The writer's thread.

internal import Domain

final class BreakerRows {
  private let saving: StoreStatement
  /// Every breaker. In receiptd only this writer changes them, so the cache equals the rows; receiptctl's is
  /// as old as its connection. An engine with several writers reads those of a batch's apps ahead.
  private(set) var byPlace: [AppDestination: Breaker] = [:]
  private var mayDiffer = false
  private let readsAhead: Bool

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
    readsAhead = connection.engine.readAhead != nil
    if !readsAhead { byPlace = try Self.all(connection) }
  }

  private static let columns =
    "app, state, failures, probe_at, rest_until, since, cause, paused_ms, detail, destination"

  /// Those that the decisions of a batch need.
  func reads(_ plan: BatchPlan) -> [BulkRead] {
    byPlace = [:]
    guard plan.namesItsApps, let apps = plan.apps else {
      return [BulkRead(Self.columns, ofAll: "breakers")]
    }
    return [BulkRead(Self.columns, of: "breakers", where: "app", in: apps.map { .text($0) })]
  }

  func add(_ row: StoreRow) throws(StoreFault) {
    let (place, breaker) = try Self.read(row)
    byPlace[place] = breaker
  }

  static func all(_ connection: StoreConnection) throws(StoreFault) -> [AppDestination: Breaker] {
    var breakers: [AppDestination: Breaker] = [:]
    try connection.prepare("SELECT \(columns) FROM breakers").forEach { row throws(StoreFault) in
      let (place, breaker) = try read(row)
      breakers[place] = breaker
    }
    return breakers
  }

  private static func read(_ row: StoreRow) throws(StoreFault) -> (AppDestination, Breaker) {
    let breaker = Breaker(
      state: Breaker.State(rawValue: try row.text(1)) ?? .closed, failures: Int(clamping: row.integer(2)),
      probeAt: row.timestamp(3), restUntil: row.timestamp(4), since: row.timestamp(5),
      cause: try row.optionalText(6).map(Reason.init), detail: try row.optionalText(8),
      pausedTime: row.duration(7))
    return (AppDestination(try row.text(0), try row.text(9)), breaker)
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
    guard mayDiffer, !readsAhead else { return }
    byPlace = try Self.all(connection)
    mayDiffer = false
  }
}
