// One app: whether its deliveries run, its receipts, and its destinations. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

struct AppPage {
  let app: AppSummary
  /// The app's destinations; the breaker is nil if none is stored.
  let destinations: [(name: DestinationName, breaker: Breaker?)]
  let processors: [ProcessorName]
  let latencies: [LatencySection]
  let joins: JoinChart
  let span: ChartSpan
  let mayChange: Bool
  /// The change that has just been made.
  let done: String?
  let now: Timestamp

  private var slug: String { app.slug.text }
  /// Whether a destination's breaker stops its deliveries, or it asked for a rest.
  private var isWaiting: Bool {
    destinations.contains {
      $0.breaker?.nextAttemptAt(now: now) != nil || $0.breaker.map { $0.state != .closed } == true
    }
  }
  private var isPaused: Bool { app.pause?.isActive(now: now) == true }

  var page: DashboardPage {
    let badge = app.rank.badge(now: now)
    let card = AppCard(app: app, now: now)
    return DashboardPage(title: slug, place: .overview) {
      Tag.p(.class("crumb")) { Tag.a(.href(Link())) { "Overview" } }
      Tag.h1 {
        PageParts.untrusted(app.slug)
        " "
        Tag.span(.class("badge \(badge.kind)")) { badge.text }
      }
      if let done = done.flatMap(AppChange.init) {
        PageParts.notice("good") {
          Tag.p { done.done }
        }
      }
      if !processors.isEmpty {
        Tag.p(.class("lead")) {
          "Its payments come from \(processors.map(\.text).joined(separator: ", "))."
        }
      }
      card.notices
      if app.isConfigured || app.rank.newFailures > 0 { actions }
      card.tiles
      // Before the charts, because a destination may be down.
      if !destinations.isEmpty { table }
      card.charts(span)
      joins.html
      for section in latencies { section.html }
    }
  }

  private var actions: HTML {
    Tag.div(.class("actions")) {
      if app.isConfigured, mayChange {
        if isWaiting {
          Tag.a(.class("button"), .href(Link("apps", slug, "retry-now"))) { "Retry now…" }
        }
        if isPaused {
          Tag.a(.class("button"), .href(Link("apps", slug, "resume"))) { "Resume…" }
          Tag.a(.class("button quiet"), .href(Link("apps", slug, "pause"))) { "Change the pause…" }
        } else {
          Tag.a(.class("button quiet"), .href(Link("apps", slug, "pause"))) { "Pause deliveries…" }
        }
      }
      if app.rank.newFailures > 0 {
        Tag.a(.class("button quiet"), .href(Link("failed"))) { "Failures by reason" }
      }
    }
  }

  private var table: HTML {
    var table = DataTable("Destinations", [.init("Name"), .init("State"), .init("Since")])
    table.rows = destinations.map { name, breaker in
      [PageParts.untrusted(name), state(breaker), PageParts.time(breaker?.since, now: now)]
    }
    return table.html
  }

  private func state(_ breaker: Breaker?) -> HTML {
    let (kind, word) =
      switch breaker?.state ?? .closed {
      case .closed: ("delivered", "accepts receipts")
      case .open: ("alarm", "is down")
      case .paused: ("alarm", "refuses the configuration")
      }
    return HTML {
      Tag.span(.class("badge \(kind)")) { word }
      if let cause = breaker?.cause {
        " "
        Tag.span(.class("reason")) { PageParts.untrusted(cause.text) }
      }
    }
  }
}
