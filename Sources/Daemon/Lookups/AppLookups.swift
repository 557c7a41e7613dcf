// One app's lookups: how many queries may be sent now, and what is under way. A value; the lookup worker's
// thread.

internal import Domain
internal import Partners
internal import Platform
internal import Service
internal import Store

/// The lookups of one app at one processor.
struct AppLookups {
  /// The most queries under way at once; processors limit this, too.
  static let concurrencyMax = 4

  /// A backfill of the events from the time that receiptd was down.
  struct Backfill {
    let since: Timestamp
    /// The list being fetched, followed by the remaining ones.
    var lists: [PagedEvents]
    /// Events of the last page that are not stored yet.
    var events: [IngestEvent] = []
    /// Whether a page is being fetched or a slice is being stored.
    var isBusy = false
    var listed = 0
    var missing = 0
    var receipts = 0
  }

  var api: ProcessorAPI
  /// The number of this configuration; no other one of `LookupRun` has it. Answers to queries of a previous
  /// one are not followed up, because its key and URLs may have changed.
  var generation: Int
  var bucket: TokenBucket
  /// No query is sent before this time.
  var restsUntil: MonotonicInstant?
  /// Consecutive failures.
  var failures = 0
  /// Whether the key was refused, which is logged once.
  var isRefused = false
  /// Purchases whose lookup is under way, or whose result is not on disk yet.
  var underWay: Set<PurchaseRowID> = []
  /// Queries without an answer.
  var open = 0
  /// When the next lookup is due, as far as known.
  var dueAt: Timestamp?
  /// When to read the due lookups again after a failed read.
  var readsAgainAt: MonotonicInstant?
  var backfill: Backfill?

  init(_ api: ProcessorAPI, generation: Int, now: Timestamp, monotonic: MonotonicInstant) {
    self.api = api
    self.generation = generation
    bucket = Self.bucket(api, monotonic)
    dueAt = now
  }

  private static func bucket(_ api: ProcessorAPI, _ monotonic: MonotonicInstant) -> TokenBucket {
    TokenBucket(
      ratePerSecond: api.queries.ratePerSecond, nowMilliseconds: monotonic.nanoseconds / 1_000_000)
  }

  /// Installs a new configuration. It may have fixed a refused key, so rests and failures are cleared.
  mutating func use(_ api: ProcessorAPI, generation: Int, now: Timestamp) {
    self.api = api
    self.generation = generation
    backfill = nil
    restsUntil = nil
    failures = 0
    isRefused = false
    dueAt = now
  }

  /// Whether one more query may be sent; acquires a token if so.
  mutating func mayAsk(_ monotonic: MonotonicInstant) -> Bool {
    if let restsUntil, monotonic < restsUntil { return false }
    return open < Self.concurrencyMax && bucket.acquire(nowMilliseconds: monotonic.nanoseconds / 1_000_000)
  }

  /// How many more queries may be under way.
  var room: Int { max(0, Self.concurrencyMax - open) }

  /// For how long nothing is due; nil if only a notification can change that.
  mutating func waitTime(now: Timestamp, monotonic: MonotonicInstant) -> Duration? {
    let isIdle = backfill.map(\.isBusy) ?? true
    guard dueAt != nil || !isIdle, room > 0 else { return nil }
    if isRefused, let restsUntil, monotonic < restsUntil {
      // The waits for checkouts are ended without a query.
      let rest = restsUntil.duration(since: monotonic)
      return dueAt.map { min(rest, max(.zero, $0.duration(since: now))) } ?? rest
    }
    var wait = isIdle ? dueAt.map { max(.zero, $0.duration(since: now)) } ?? .zero : .zero
    if isIdle, let readsAgainAt { wait = max(wait, readsAgainAt.duration(since: monotonic)) }
    if let restsUntil { wait = max(wait, restsUntil.duration(since: monotonic)) }
    return max(wait, bucket.waitTime(nowMilliseconds: monotonic.nanoseconds / 1_000_000))
  }

  /// Records an orderly answer.
  mutating func succeed() {
    failures = 0
    isRefused = false
    restsUntil = nil
  }

  mutating func rest(for duration: Duration, _ monotonic: MonotonicInstant) {
    let until = monotonic.advanced(by: duration)
    restsUntil = max(restsUntil ?? until, until)
  }
}
