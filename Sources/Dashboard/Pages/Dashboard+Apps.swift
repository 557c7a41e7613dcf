// The pages of apps, and the pauses of their deliveries.

internal import Apps
internal import Domain
internal import Durations
internal import HTML
internal import HTTPServer
internal import HTTPService
internal import Health
internal import JSON
internal import Persistence
internal import Platform
internal import Presentation
internal import Store

extension Dashboard {
  func overview(_ form: AdminForm) throws(Refusal) -> DashboardPage {
    let now = now
    let configured = apps.current.slugs
    let (summaries, next) = try read { source throws(StoreFault) in
      let shared = try SharedState(&source, now: now)
      let slugs = Set(configured).union(shared.counts.keys).sorted().drop { $0 < AppSlug(form["from"] ?? "") }
      var summaries: [AppSummary] = []
      for slug in slugs.prefix(OverviewPage.appsMax) {
        summaries.append(try summary(slug, shared, source, now: now))
      }
      return (summaries, slugs.dropFirst(OverviewPage.appsMax).first)
    }
    return OverviewPage(apps: summaries, next: next?.text, health: health.report(now: now), now: now).page
  }

  /// What the summaries of all apps need.
  private struct SharedState {
    var counts: [AppSlug: [ReceiptState: Int64]] = [:]
    var breakers: [AppDestination: Breaker]
    var pauses: [AppSlug: AppPause]
    /// The apps with failures that are new or growing.
    var loud: Set<AppSlug>
    var used: [AppSlug: [AppProcessor]]

    init(_ source: inout Source, now: Timestamp) throws(StoreFault) {
      for (app, state, count) in try source.reader.counts() { counts[app, default: [:]][state] = count }
      breakers = try source.reader.breakers()
      pauses = try source.reader.pauses()
      loud = Set(try source.reader.failureGroups().filter { $0.attention != .acknowledged }.map(\.app))
      used = Dictionary(grouping: try source.reader.countsByProcessor().keys, by: \.app)
      try source.history.update(source.reader, now: now)
    }
  }

  private func summary(
    _ slug: AppSlug, _ shared: SharedState, _ source: Source, now: Timestamp
  ) throws(StoreFault) -> AppSummary {
    let app = apps.current[slug]
    let processors = Set((shared.used[slug] ?? []).map(\.processor)).union(app?.processors.keys ?? [:].keys)
    var unfinished: [UnfinishedText] = []
    for processor in processors.sorted() {
      let place = AppProcessor(slug, processor)
      let work = try source.reader.unfinished(place, now: now)
      if let text = UnfinishedText(work, of: place, now: now) { unfinished.append(text) }
    }
    let worst = shared.breakers.worst(of: slug, now: now)
    return AppSummary(
      slug: slug, isConfigured: app != nil, counts: shared.counts[slug] ?? [:],
      oldestPending: try source.reader.oldestPending(app: slug), breaker: worst?.breaker,
      destination: worst?.destination,
      destinationAdvice: app?.routes.first { $0.name == worst?.destination }?.advice,
      needsAttention: shared.loud.contains(slug), pause: shared.pauses[slug],
      lastEvent: try source.reader.lastEvent(app: slug), unfinished: unfinished,
      webhookAdvice: app?.webhookAdvice ?? [:], processorAdvice: app?.processorAdvice ?? [:],
      hours: source.history.counts(slug, last: DeliveryHistory.hours, now: now))
  }

  // MARK: One app

  func app(_ slug: AppSlug, _ form: AdminForm) throws(Refusal) -> DashboardPage {
    let now = now
    let app = apps.current[slug]
    let page = try read { source throws(StoreFault) -> AppPage? in
      let shared = try SharedState(&source, now: now)
      guard app != nil || shared.counts[slug] != nil else { return nil }
      let breakers = shared.breakers
      return AppPage(
        app: try summary(slug, shared, source, now: now),
        destinations: (app?.routes.map(\.name) ?? []).map { name in
          (name, breakers[AppDestination(slug, name)])
        },
        processors: app?.processors.keys.sorted() ?? [], done: form["done"], now: now)
    }
    guard let page else { throw .problem(.unknownApp) }
    return page.page
  }

  /// Asks before a pause begins or ends.
  /// - Parameter typed: what the submitted form said.
  func confirmation(
    app slug: AppSlug, _ change: AppChange, typed: AdminForm? = nil, complaint: String? = nil
  ) throws(Refusal) -> ConfirmationPage {
    guard apps.current[slug] != nil else { throw .problem(.unknownApp) }
    let hidden = [(name: Self.tokenField, value: tokens.token(for: change.purpose(slug)))]
    let back = Link("apps", slug.text)
    switch change {
    case .pause:
      return ConfirmationPage(
        title: "Pause the deliveries of \(slug)?", place: .overview,
        text: [
          "Contexts and events are accepted as always, and payments are captured. Receipts wait, and the "
            + "time does not count against their retries. What is under way is completed."
        ],
        button: "Pause", needsReason: true, target: Link("apps", slug.text, change.rawValue), hidden: hidden,
        fields: [
          ConfirmationPage.Field(
            name: "for", label: "For how long", value: typed?["for"] ?? "1h",
            help: "Such as 30m, 4h or 2d. Leave it empty to pause until somebody resumes them.",
            isRequired: false)
        ], back: back, complaint: complaint)
    case .resume:
      return ConfirmationPage(
        title: "Resume the deliveries of \(slug)?", place: .overview,
        text: ["What is due is delivered at once."], button: "Resume", needsReason: false,
        target: Link("apps", slug.text, change.rawValue), hidden: hidden, back: back, complaint: complaint)
    }
  }

  func change(
    app slug: AppSlug, _ change: AppChange, _ form: AdminForm, _ visitor: String, _ exchange: Exchange
  ) throws(Refusal) {
    try check(form, for: change.purpose(slug))
    let words = form["why"]
    func entry(_ details: JSONValue) -> AuditEntry {
      AuditEntry(
        at: now, actor: visitor, action: "apps \(change.rawValue)", app: slug, reason: words,
        details: details.text)
    }
    let again = { (complaint: String) throws(Refusal) -> Response in
      try confirmation(app: slug, change, typed: form, complaint: complaint).page.response
    }
    guard apps.current[slug] != nil else { throw .problem(.unknownApp) }
    let target = Link("apps", slug.text, query: [("done", change.rawValue)])
    switch change {
    case .pause:
      guard let words, !words.allSatisfy(\.isWhitespace) else {
        return exchange.answer(try again("Say why, in a few words."))
      }
      var time: Duration?
      if let text = form["for"], !text.isEmpty {
        guard let parsed = DurationText.duration(parsing: text), PauseApp.times.contains(parsed) else {
          return exchange.answer(
            try again("Say for how long: a time such as 30m, 4h or 2d, at most a year."))
        }
        time = parsed
      }
      let details = entry(["seconds": .optional(time?.components.seconds)])
      apply(
        Audited(PauseApp(app: slug, for: time, actor: visitor, reason: words)) { _ in details }, app: slug,
        exchange
      ) { _ in .success(target) }
    case .resume:
      let details = entry([:])
      apply(Audited(ResumeApp(app: slug)) { $0 == nil ? nil : details }, app: slug, exchange) { _ in
        .success(target)
      }
    }
  }
}

/// What an operator can do with an app.
enum AppChange: String, Sendable, CaseIterable {
  case pause, resume

  func purpose(_ app: AppSlug) -> String { "apps \(rawValue) \(app)" }
}

extension Problem {
  static let unknownApp = Problem(
    slug: "unknown-app", title: "No such app", status: 404,
    detail: "No app with this name is configured, and none has receipts.")
}
