// What the enquirer knows of one app: how much it may ask now, and what it is about. A value; the enquirer's
// thread.

internal import Apps
internal import Domain
internal import Platform
internal import Processors
internal import Store

/// One app's questions.
struct EnquiryDesk {
  /// Look-ups under way at once; the processor counts them, too.
  static let concurrencyMax = 4

  /// Events of the time that receiptd was down.
  struct Backfill {
    let since: Timestamp
    /// The list that is gone through, and those behind it.
    var lists: [PagedEvents]
    /// Events of the last page that are not stored yet.
    var events: [TakeEvent] = []
    /// Whether a page is being fetched or a slice is being stored.
    var isBusy = false
    var listed = 0
    var missing = 0
    var receipts = 0
  }

  var enquiry: Enquiry
  /// Counts the configurations: what was asked under an old one is nothing to go on with, for its key and its
  /// addresses belong together.
  var edition = 0
  var bucket: TokenBucket
  /// Nothing is asked before.
  var restsUntil: MonotonicInstant?
  /// Failures in a row.
  var failures = 0
  /// Whether the log says already that the key is refused.
  var hasWarned = false
  /// Purchases that are being asked about, or whose answer is not on disk yet.
  var underWay: Set<Int64> = []
  /// Questions without an answer.
  var open = 0
  /// When the next look-up is due, as far as is known.
  var asksAt: Timestamp?
  var backfill: Backfill?

  init(_ enquiry: Enquiry, now: Timestamp, monotonic: MonotonicInstant) {
    self.enquiry = enquiry
    bucket = Self.bucket(enquiry, monotonic)
    asksAt = now
  }

  private static func bucket(_ enquiry: Enquiry, _ monotonic: MonotonicInstant) -> TokenBucket {
    TokenBucket(
      ratePerSecond: enquiry.queries.ratePerSecond, nowMilliseconds: monotonic.nanoseconds / 1_000_000)
  }

  /// A new configuration: what the old one was refused may be right now.
  mutating func use(_ enquiry: Enquiry, now: Timestamp) {
    self.enquiry = enquiry
    edition += 1
    backfill = nil
    restsUntil = nil
    failures = 0
    hasWarned = false
    asksAt = now
  }

  /// Whether one more question may be asked; takes its place if so.
  mutating func mayAsk(_ monotonic: MonotonicInstant) -> Bool {
    if let restsUntil, monotonic < restsUntil { return false }
    return open < Self.concurrencyMax && bucket.take(nowMilliseconds: monotonic.nanoseconds / 1_000_000)
  }

  /// How many look-ups there is room for.
  var room: Int { max(0, Self.concurrencyMax - open) }

  /// Until when there is nothing to do, in milliseconds; nil when only news can change that.
  mutating func waitMilliseconds(now: Timestamp, monotonic: MonotonicInstant) -> Int64? {
    let isIdle = backfill.map(\.isBusy) ?? true
    guard asksAt != nil || !isIdle, room > 0 else { return nil }
    var wait = isIdle ? asksAt.map { max(0, $0.milliseconds(since: now)) } ?? 0 : 0
    if let restsUntil { wait = max(wait, restsUntil.milliseconds(since: monotonic)) }
    return max(wait, bucket.waitMilliseconds(nowMilliseconds: monotonic.nanoseconds / 1_000_000))
  }

  /// The processor answered as it should.
  mutating func succeed() {
    failures = 0
    hasWarned = false
    restsUntil = nil
  }

  mutating func rest(for milliseconds: Int64, _ monotonic: MonotonicInstant) {
    let until = monotonic.advanced(byMilliseconds: milliseconds)
    restsUntil = max(restsUntil ?? until, until)
  }
}
