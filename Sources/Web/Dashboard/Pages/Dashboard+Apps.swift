// The pages of apps, and the pauses of their deliveries.

internal import Config
internal import Domain
internal import Formats
internal import HTTPServer
internal import Platform
internal import Reports
internal import Service
internal import Store

extension Dashboard {
  func overview(_ form: AdminForm, isLive: Bool) throws(Refusal) -> DashboardPage {
    let (now, report, configuration) = (now, health.report(now: now), health.configuration)
    let number = min(max(1, form["page"].flatMap(Int.init) ?? 1), AppList.pagesMax)
    let page = try read { source throws(StoreFault) -> OverviewPage in
      let figures = try source.figures(now: now)
      let stored = StoredFindings(configuration.apps, source.reader, now: now)
      let troubles = try alerts.troubles(configuration, source.reader, stored, report, now)
      let loud = try source.reader.loudFailures()
      let ranks = try ranks(&source, loud, troubled: Set(troubles.compactMap(\.app)), now: now)
      let before = min(ranks.count, (number - 1) * AppList.pageSize)
      var rows: [AppRow] = []
      for rank in ranks.dropFirst(before).prefix(AppList.pageSize) {
        rows.append(
          AppRow(
            rank: rank, oldestPending: try source.reader.oldestPending(app: rank.slug),
            lastEvent: source.reader.lastReadableEvent(app: rank.slug)))
      }
      let findings = Finding.current(report, stored, configuration, now: now)
      return OverviewPage(
        figures: figures, isLive: isLive,
        troubles: TroubleList(findings, troubles, newFailures: loud, mayChange: mayChange, now: now),
        rows: rows,
        number: number, hasMore: ranks.count > before + rows.count,
        findings: (report.headlines(daemon: nil, now: now) + findings).filter { $0.level == .ok }, now: now)
    }
    return page.page
  }

  /// All apps, those with trouble first. It reads a few rows for each, all in the same statements.
  private func ranks(
    _ source: inout Source, _ loud: [AppSlug: Int64], troubled: Set<AppSlug>, now: Timestamp
  ) throws(StoreFault) -> [AppRank] {
    var counts: [AppSlug: [ReceiptState: Int64]] = [:]
    for (app, state, count) in try source.reader.counts() { counts[app, default: [:]][state] = count }
    let (breakers, pauses) = (try source.reader.breakers(), try source.reader.pauses())
    let configured = apps.current
    try source.history.update(source.reader, now: now)
    let history = source.history
    let ranks = Set(configured.slugs).union(counts.keys).map { slug in
      AppRank(
        slug: slug, isConfigured: configured[slug] != nil, counts: counts[slug] ?? [:],
        breaker: breakers.worst(of: slug, now: now)?.breaker, pause: pauses[slug],
        newFailures: loud[slug] ?? 0, isTroubled: troubled.contains(slug),
        hours: history.counts(slug, last: 24, now: now))
    }
    return AppRank.sorted(ranks, now: now)
  }

  // MARK: One app

  func app(_ slug: AppSlug, _ form: AdminForm) throws(Refusal) -> DashboardPage {
    let now = now
    let app = apps.current[slug]
    let span = form["time"] == "7d" ? ChartSpan.week : .day
    let page = try read { source throws(StoreFault) -> AppPage? in
      let counts = try source.reader.counts(app: slug)
      guard app != nil || !counts.isEmpty else { return nil }
      let breakers = try source.reader.breakers()
      let processors = Set(counts.keys).union(app?.processors.keys ?? [:].keys).sorted()
      return AppPage(
        app: try summary(slug, counts, breakers, processors, &source, now: now),
        destinations: (app?.routes.map(\.name) ?? []).map { name in
          (name, breakers[AppDestination(slug, name)])
        },
        processors: app?.processors.keys.sorted() ?? [],
        latencies: try Self.latencies(of: slug, span, source.reader, now: now),
        joins: JoinChart(
          span: span,
          periods: try source.reader.joins(
            app: slug, last: span.hours / span.hoursEach, periodsOf: span.hoursEach, now: now),
          broken: try source.reader.unjoined(app: slug, now: now)), span: span,
        mayChange: mayChange, done: form["done"], now: now)
    }
    guard let page else { throw .problem(.unknownApp) }
    return page.page
  }

  private func summary(
    _ slug: AppSlug, _ counts: [ProcessorName: [ReceiptState: Int64]], _ breakers: [AppDestination: Breaker],
    _ processors: [ProcessorName], _ source: inout Source, now: Timestamp
  ) throws(StoreFault) -> AppSummary {
    let app = apps.current[slug]
    var unfinished: [UnfinishedText] = []
    for processor in processors {
      let place = AppProcessor(slug, processor)
      let work = try source.reader.unfinished(place, now: now)
      if let text = UnfinishedText(work, of: place, now: now) { unfinished.append(text) }
    }
    let worst = breakers.worst(of: slug, now: now)
    let rank = AppRank(
      slug: slug, isConfigured: app != nil,
      counts: counts.values.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) },
      breaker: worst?.breaker, pause: try source.reader.pauses()[slug],
      newFailures: try source.reader.loudFailures(app: slug)[slug] ?? 0)
    try source.history.update(source.reader, now: now)
    return AppSummary(
      rank: rank, oldestPending: try source.reader.oldestPending(app: slug), destination: worst?.destination,
      destinationAdvice: app?.routes.first { $0.name == worst?.destination }?.advice,
      lastEvent: source.reader.lastReadableEvent(app: slug), unfinished: unfinished,
      hours: source.history.counts(slug, last: DeliveryHistory.hours, now: now))
  }

  private func formChange(_ slug: AppSlug, _ change: AppChange) -> FormChange {
    FormChange(
      purpose: change.purpose(slug), action: "apps \(change.rawValue)", app: slug, place: .overview,
      target: Link("apps", slug.text, change.rawValue), back: Link("apps", slug.text))
  }

  /// Asks before a pause begins or ends.
  /// - Parameter typed: what the submitted form said.
  func confirmation(
    app slug: AppSlug, _ change: AppChange, typed: AdminForm? = nil, complaint: String? = nil
  ) throws(Refusal) -> ConfirmationPage {
    guard apps.current[slug] != nil else { throw .problem(.unknownApp) }
    let asked = formChange(slug, change)
    switch change {
    case .pause:
      return question(
        asked, title: "Pause the deliveries of \(slug)?",
        text: [
          "Contexts and events are accepted as always, and payments are captured. Receipts wait, and the "
            + "time does not count against their retries. What is under way is completed."
        ],
        button: "Pause", needsReason: true,
        fields: [
          ConfirmationPage.Field(
            name: "for", label: "For how long", value: typed?["for"] ?? "1h",
            help: "Such as 30m, 4h or 2d. Leave it empty to pause until somebody resumes them.",
            isRequired: false)
        ], complaint: complaint)
    case .resume:
      return question(
        asked, title: "Resume the deliveries of \(slug)?", text: ["What is due is delivered at once."],
        button: "Resume", complaint: complaint)
    case .retryNow:
      return question(
        asked, title: "Retry the deliveries of \(slug) now?",
        text: [
          "They wait no longer for the time that a destination asked for, or for the next probe. If the "
            + "first one fails, they wait again."
        ],
        button: "Retry now", complaint: complaint)
    }
  }

  func change(
    app slug: AppSlug, _ change: AppChange, _ form: AdminForm, _ visitor: String, _ exchange: Exchange
  ) throws(Refusal) {
    let asked = formChange(slug, change)
    try check(form, for: asked.purpose)
    let again = { (complaint: String) throws(Refusal) in
      answer(.question(try confirmation(app: slug, change, typed: form, complaint: complaint)), exchange)
    }
    guard apps.current[slug] != nil else { throw .problem(.unknownApp) }
    let target = Link("apps", slug.text, query: [("done", change.rawValue)])
    switch change {
    case .pause:
      guard let why = form.why else { return try again(AdminForm.whyComplaint) }
      var time: Duration?
      if let text = form["for"], !text.isEmpty {
        guard let parsed = DurationText.duration(parsing: text), PauseApp.times.contains(parsed) else {
          return try again("Say for how long: a time such as 30m, 4h or 2d, at most a year.")
        }
        time = parsed
      }
      let entry = entry(asked, form, visitor, ["seconds": .optional(time?.components.seconds)])
      apply(
        Audited(PauseApp(app: slug, for: time, actor: visitor, reason: why)) { _ in entry }, app: slug,
        exchange
      ) { _ in .success(target) }
    case .resume:
      let entry = entry(asked, form, visitor)
      apply(Audited(ResumeApp(app: slug)) { $0 == nil ? nil : entry }, app: slug, exchange) { _ in
        .success(target)
      }
    case .retryNow:
      let entry = entry(asked, form, visitor)
      apply(Audited(RetryNow(app: slug)) { _ in entry }, app: slug, exchange) { _ in .success(target) }
    }
  }
}

/// What an operator can do with an app.
enum AppChange: String, Sendable, CaseIterable {
  case pause, resume
  case retryNow = "retry-now"

  /// What it does with the deliveries, as the beginning of a title.
  var title: String {
    switch self {
    case .pause: "Pause the deliveries"
    case .resume: "Resume the deliveries"
    case .retryNow: "Retry the deliveries"
    }
  }

  /// What was done.
  var done: String {
    switch self {
    case .pause: "Its deliveries are paused."
    case .resume: "Its deliveries resume."
    case .retryNow: "Its deliveries are retried now."
    }
  }

  func purpose(_ app: AppSlug) -> String { "apps \(rawValue) \(app)" }
}

extension Problem {
  static let unknownApp = Problem(
    slug: "unknown-app", title: "No such app", status: 404,
    detail: "No app with this name is configured, and none has receipts.")
}
