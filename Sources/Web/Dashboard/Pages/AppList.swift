// The list of apps on the overview: one row each, those with trouble first. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

/// What decides the place of an app in the list. It is known without reading anything for each app.
struct AppRank {
  let slug: AppSlug
  let isConfigured: Bool
  var counts: [ReceiptState: Int64] = [:]
  var breaker: Breaker?
  var pause: AppPause?
  /// Failed receipts that nobody has acknowledged.
  var newFailures: Int64 = 0
  /// Whether it is one of the current troubles.
  var isTroubled = false
  /// The last day by hours, oldest first.
  var hours: [DeliveryCount] = []

  var day: DeliveryCount { hours.reduce(DeliveryCount(), +) }

  /// The badge of the app's state: its class and its text.
  func badge(now: Timestamp) -> (kind: String, text: String) {
    let open = (counts[.waiting] ?? 0) + (counts[.pending] ?? 0)
    guard isConfigured else { return (open > 0 ? "alarm" : "cancelled", "not configured") }
    guard pause?.isActive(now: now) != true else { return ("waiting", "paused by an operator") }
    switch breaker?.state ?? .closed {
    case .paused: return ("alarm", "refused by the destination")
    case .open: return ("alarm", "destination down")
    case .closed:
      return breaker?.restUntil.map { $0 > now } == true
        ? ("pending", "deliveries on hold") : ("delivered", "running")
    }
  }

  /// Smaller is first.
  private func order(now: Timestamp) -> Int {
    if badge(now: now).kind == "alarm" { return 0 }
    if newFailures > 0 { return 1 }
    if isTroubled { return 2 }
    return pause?.isActive(now: now) == true ? 3 : 4
  }

  /// Trouble first, then the apps that deliver most.
  static func sorted(_ apps: [AppRank], now: Timestamp) -> [AppRank] {
    apps.map { (rank: $0, order: $0.order(now: now), day: $0.day.delivered) }
      .sorted { ($0.order, -$0.day, $0.rank.slug) < ($1.order, -$1.day, $1.rank.slug) }.map(\.rank)
  }
}

/// One row of the list.
struct AppRow {
  let rank: AppRank
  let oldestPending: Timestamp?
  let lastEvent: Timestamp?
}

struct AppList {
  static let pageSize = 25
  /// More apps than any relay has.
  static let pagesMax = 10_000

  let rows: [AppRow]
  let now: Timestamp

  var html: HTML {
    var table = DataTable(
      "Trouble first, then by deliveries",
      [
        .init("App"), .init("State"), .init("New failures", isNumber: true), .init("Pending", isNumber: true),
        .init("Oldest pending"), .init("Waiting", isNumber: true), .init("Delivered, 24 h", isNumber: true),
        .init("Failed, 24 h", isNumber: true), .init("Last event"), .init("Last 24 hours"),
      ])
    table.rows = rows.map(cells)
    return table.html
  }

  private func cells(_ row: AppRow) -> [HTML] {
    let (rank, slug) = (row.rank, row.rank.slug.text)
    let badge = rank.badge(now: now)
    func count(_ number: Int64?, _ link: Link, isAlarm: Bool = false) -> HTML {
      guard let number, number > 0 else { return Tag.span(.class("none")) { "0" } }
      let text = PageParts.number(number)
      return isAlarm
        ? Tag.a(.class("alarm"), .href(link)) { text } : Tag.a(.href(link)) { text }
    }
    func list(_ state: ReceiptState) -> Link {
      Link("receipts", query: [("app", slug), ("state", state.rawValue)])
    }
    return [
      Tag.a(.href(Link("apps", slug))) { Tag.strong { PageParts.untrusted(rank.slug) } },
      Tag.span(.class("badge \(badge.kind)")) { badge.text },
      count(rank.newFailures, Link("failed"), isAlarm: true),
      count(rank.counts[.pending], list(.pending)), PageParts.time(row.oldestPending, now: now),
      count(rank.counts[.waiting], list(.waiting)), HTML(text: PageParts.number(rank.day.delivered)),
      rank.day.failed > 0 ? count(rank.day.failed, list(.failed)) : Tag.span(.class("none")) { "0" },
      PageParts.time(row.lastEvent, now: now), Sparkline(hours: rank.hours).html,
    ]
  }
}
