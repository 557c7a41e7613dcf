// The numbers of the whole relay that stay current on a page.

internal import Domain
internal import Formats
internal import Reports
internal import Service
internal import Store

/// The numbers of all apps. Values.
struct LiveFigures {
  /// Every frame of this time gets the same ones, however many pages are open.
  static let lifetime: Duration = .seconds(1)

  let at: Timestamp
  var counts: [ReceiptState: Int64] = [:]
  /// When the pending receipt that waits longest became ready.
  var oldestPending: Timestamp?
  /// Failed receipts that nobody has acknowledged.
  var newFailures: Int64 = 0
  /// Paid purchases without a user.
  var unclaimed = UnclaimedPurchases()
  /// Of the last 24 hours.
  var day = DeliveryCount()

  init(_ source: inout Dashboard.Source, now: Timestamp) throws(StoreFault) {
    at = now
    for (app, state, count) in try source.reader.counts() {
      counts[state, default: 0] += count
      guard state == .pending, count > 0, let oldest = try source.reader.oldestPending(app: app) else {
        continue
      }
      oldestPending = min(oldestPending ?? oldest, oldest)
    }
    newFailures = try source.reader.loudFailures().values.reduce(0, +)
    unclaimed = try source.reader.unclaimedPurchases()
    try source.history.update(source.reader, now: now)
    day = source.history.sum(last: 24, now: now)
  }

  func isCurrent(now: Timestamp) -> Bool {
    (.zero...Self.lifetime).contains(now.duration(since: at))
  }

  /// One line for every page: `ready · 2 new failures · 12 pending, oldest 4 s ago · 14:03:20 UTC`.
  func strip(_ health: HealthReport) -> HTML {
    let pending = counts[.pending] ?? 0
    let oldest = oldestPending.map { ", the oldest since \($0.clock(today: at))" } ?? ""
    return Tag.p(.class("strip-line")) {
      health.isReady
        ? Tag.span(.class("light good")) { "ready" } : Tag.span(.class("light bad")) { "not ready" }
      " · "
      if newFailures > 0 {
        Tag.strong(.class("alarm")) { PageParts.counted(newFailures, "new failure") }
      } else {
        "no new failures"
      }
      " · \(PageParts.number(pending)) pending"
      // A phone has no room for it.
      Tag.span(.class("more")) { oldest }
      " · "
      Tag.time(.datetime(at.rfc3339)) { "\(time(at)) UTC" }
    }
  }

  private func time(_ moment: Timestamp) -> String { String(moment.rfc3339.dropFirst(11).prefix(8)) }

  /// The numbers above the list of apps.
  var numbers: HTML {
    let pending = counts[.pending] ?? 0
    return Tag.ul(.class("numbers")) {
      number("new failures", newFailures, isAlarm: newFailures > 0)
      number("pending", pending, oldest: oldestPending)
      number("waiting", counts[.waiting] ?? 0)
      number("without a user", unclaimed.count, oldest: unclaimed.oldest)
      number("delivered in 24 h", day.delivered)
      number("failed in 24 h", day.failed)
    }
  }

  private func number(_ name: String, _ count: Int64, isAlarm: Bool = false, oldest: Timestamp? = nil) -> HTML
  {
    Tag.li {
      Tag.span(.class("name")) { name }
      Tag.span(.class(isAlarm ? "value alarm" : count == 0 ? "value zero" : "value")) {
        PageParts.number(count)
        if let oldest, count > 0 {
          " "
          Tag.span(.class("age")) { "oldest \(oldest.relative(to: at))" }
        }
      }
    }
  }
}

extension Dashboard.Source {
  /// The numbers of this second.
  mutating func figures(now: Timestamp) throws(StoreFault) -> LiveFigures {
    if let live, live.isCurrent(now: now) { return live }
    let figures = try LiveFigures(&self, now: now)
    live = figures
    return figures
  }
}
