// The state of one app, as the overview and its own page show it. Pure; called from any thread.

internal import Domain
internal import HTML
internal import Presentation
internal import Store

/// The state of one app.
struct AppSummary {
  var slug: AppSlug
  /// Whether the app is configured; the database keeps the receipts of removed apps.
  var isConfigured: Bool
  var counts: [ReceiptState: Int64]
  var oldestPending: Timestamp?
  var breaker: Breaker?
  /// The breaker's destination.
  var destination: DestinationName?
  /// How to correct the configuration of the breaker's destination; nil if it is not configured.
  var destinationAdvice: DestinationAdvice?
  /// Whether it has failures that nobody has acknowledged, or that have grown since.
  var needsAttention: Bool
  /// An operator's pause of the app.
  var pause: AppPause?
  /// When the newest event arrived.
  var lastEvent: Timestamp?
  /// The unfinished lookups and captures at each processor.
  var unfinished: [UnfinishedText] = []
  /// What to do when the webhooks of a processor are refused.
  var webhookAdvice: [ProcessorName: WebhookAdvice]
  /// What to do when a processor refuses the credentials.
  var processorAdvice: [ProcessorName: ProcessorAdvice]
  /// The last seven days in hours, oldest first.
  var hours: [DeliveryCount]

  /// The open receipts that make no progress because the app is not configured.
  var unconfigured: UnconfiguredApp? { isConfigured ? nil : UnconfiguredApp(slug: slug, counts) }
}

struct AppCard {
  private static let dayHours = 24

  let app: AppSummary
  /// Unique in the page.
  let id: String
  let now: Timestamp

  /// One card of several: its heading leads to the app's page.
  var html: HTML {
    Tag.section(.class("card"), .labelledBy(id)) {
      Tag.div(.class("card-head")) {
        Tag.h2(.id(id)) { Tag.a(.href(Link("apps", app.slug.text))) { PageParts.untrusted(app.slug) } }
        badge
      }
      notices
      tiles
      charts
    }
  }

  /// What stops the app's deliveries, and what needs an operator.
  @HTMLBuilder var notices: HTML {
    if let text = PauseText(app.pause, app: app.slug.text, now: now) {
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
    } else if let text = BreakerText(
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

  var charts: HTML {
    Tag.div(.class("charts")) {
      DeliveryChart.day(Array(app.hours.suffix(Self.dayHours)), now: now, id: id).html
      DeliveryChart.week(app.hours, now: now, id: id).html
    }
  }

  private func tile(_ state: ReceiptState) -> HTML {
    let count = app.counts[state] ?? 0
    let link = Link("receipts", query: [("app", app.slug.text), ("state", state.rawValue)])
    let isKnown = state == .failed && !app.needsAttention
    return Tag.a(.class("tile \(count > 0 ? isKnown ? "known" : state.rawValue : "zero")"), .href(link)) {
      Tag.span(.class("name")) { state.rawValue }
      " "
      Tag.span(.class("value")) { PageParts.number(count) }
    }
  }

  var badge: HTML {
    guard app.isConfigured else { return Tag.span(.class("badge cancelled")) { "not configured" } }
    guard app.pause?.isActive(now: now) != true else {
      return Tag.span(.class("badge waiting")) { "paused by an operator" }
    }
    let (kind, word) =
      switch app.breaker?.state ?? .closed {
      case .paused: ("failed", "deliveries paused")
      case .open: ("failed", "destination down")
      case .closed:
        app.breaker?.restUntil.map { $0 > now } == true
          ? ("pending", "deliveries on hold") : ("delivered", "deliveries running")
      }
    return Tag.span(.class("badge \(kind)")) { word }
  }
}
