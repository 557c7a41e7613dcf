// The state of one app, as its page shows it. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

/// The state of one app.
struct AppSummary {
  var rank: AppRank
  var oldestPending: Timestamp?
  /// That of the breaker.
  var destination: DestinationName?
  /// How to correct the configuration of the breaker's destination; nil if it is not configured.
  var destinationAdvice: DestinationAdvice?
  /// When the newest event arrived.
  var lastEvent: Timestamp?
  /// The unfinished lookups and captures at each processor.
  var unfinished: [UnfinishedText] = []
  /// The last seven days in hours, oldest first.
  var hours: [DeliveryCount]

  var slug: AppSlug { rank.slug }
  var isConfigured: Bool { rank.isConfigured }
  var pause: AppPause? { rank.pause }
  var breaker: Breaker? { rank.breaker }

  /// The open receipts that make no progress because the app is not configured.
  var unconfigured: UnconfiguredApp? { isConfigured ? nil : UnconfiguredApp(slug: slug, rank.counts) }
}

struct AppCard {
  let app: AppSummary
  let now: Timestamp

  /// What stops the app's deliveries, and what needs an operator.
  @HTMLBuilder var notices: HTML {
    if app.isConfigured, let text = PauseText(app.pause, app: app.slug.text, now: now) {
      PageParts.notice("pending") {
        Tag.p {
          "Deliveries "
          PageParts.untrusted(text.sentence)
        }
        Tag.p { PageParts.untrusted("\(text.advice).") }
      }
    }
    if let gone = app.unconfigured {
      PageParts.notice("bad") {
        Tag.p {
          "The app "
          PageParts.untrusted(app.slug)
          " \(gone.sentence)."
        }
        Tag.p { gone.advice }
      }
    } else if app.isConfigured,
      let text = BreakerText(
        app.breaker, app: app.slug.text, now: now, advice: app.destinationAdvice)
    {
      PageParts.notice(app.breaker?.state == .closed ? "pending" : "bad") {
        Tag.p { "Deliveries\(app.destination.map { " to \($0)" } ?? "") \(text.sentence)" }
        Tag.p { text.advice }
      }
    }
    if !app.unfinished.isEmpty {
      let isBad = app.unfinished.contains(where: \.isBad)
      PageParts.notice(isBad ? "bad" : "pending") {
        for text in app.unfinished { Tag.p { PageParts.untrusted(text.sentence) } }
        if isBad { Tag.p { "These payments have an unknown outcome: \(UnfinishedText.command)" } }
      }
    }
  }

  var tiles: HTML {
    Tag.ul(.class("tiles")) {
      for state in ReceiptState.allCases { Tag.li { tile(state) } }
      Tag.li {
        Tag.div(.class("tile")) {
          Tag.span(.class("name")) { "oldest pending" }
          Tag.span(.class("value")) { PageParts.time(app.oldestPending, now: now) }
        }
      }
      Tag.li {
        Tag.div(.class("tile")) {
          Tag.span(.class("name")) { "last event" }
          Tag.span(.class("value")) { PageParts.time(app.lastEvent, now: now) }
        }
      }
    }
  }

  /// The choice of the time that the charts show, and the deliveries in it.
  func charts(_ span: ChartSpan) -> HTML {
    HTML {
      Tag.nav(.class("tabs"), .label("Time of the charts")) {
        Tag.a(.href(Link("apps", app.slug.text)), .current(span == .day)) { "24 h" }
        Tag.a(.href(Link("apps", app.slug.text, query: [("time", "7d")])), .current(span == .week)) { "7 d" }
      }
      Tag.section(.class("card"), .labelledBy("deliveries")) {
        Tag.h2(.id("deliveries")) { "Deliveries" }
        DeliveryChart(span, app.hours, now: now).html
      }
    }
  }

  private func tile(_ state: ReceiptState) -> HTML {
    let count = app.rank.counts[state] ?? 0
    let link = Link("receipts", query: [("app", app.slug.text), ("state", state.rawValue)])
    let isKnown = state == .failed && app.rank.newFailures == 0
    return Tag.a(
      .class("tile \(count > 0 ? isKnown ? "known" : state == .failed ? "alarm" : state.rawValue : "zero")"),
      .href(link)
    ) {
      Tag.span(.class("name")) { state.rawValue }
      " "
      Tag.span(.class("value")) { PageParts.number(count) }
    }
  }
}
