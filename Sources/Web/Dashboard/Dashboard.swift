// The dashboard: makes pages for requests. Runs on the admin listener's thread, so each page reads only a
// little, through indexes. It never writes; changes go to the committer.

internal import Config
internal import Domain
internal import Formats
internal import HTTPServer
internal import Platform
internal import Reports
public import Service
public import Store

/// Serves the dashboard's routes.
public struct Dashboard: Sendable {
  /// The data source, used by one request at a time.
  struct Source {
    var reader: StoreReader
    var history = DeliveryHistory()
    /// The last numbers of the frames.
    var live: LiveFigures?
  }

  let services: ListenerServices
  let apps: AppRegistry
  let committer: Committer
  let health: HealthMonitor
  private(set) var tokens: FormTokens
  /// Whether the user may change something, and read personal bodies.
  private(set) var mayChange = false
  /// Whether the answers are JSON for a program, not pages.
  private(set) var isProgram = false
  let alerts: AlertFacts
  let source: Monitor<Source>
  let exports = ExportPlaces()

  /// - Parameter reader: a connection that only the dashboard uses.
  public init(
    services: ListenerServices, apps: AppRegistry, committer: Committer, health: HealthMonitor,
    tokens: FormTokens, alerts: AlertFacts, reader: sending StoreReader
  ) {
    self.services = services
    self.apps = apps
    self.committer = committer
    self.health = health
    self.tokens = tokens
    self.alerts = alerts
    source = Monitor(Source(reader: reader))
  }

  /// The dashboard as the user who sent a request gets it.
  func serving(_ visit: Visit, isProgram: Bool = false) -> Dashboard {
    var dashboard = self
    dashboard.isProgram = isProgram
    dashboard.tokens = tokens.bound(to: visit)
    dashboard.mayChange = visit.mayChange
    return dashboard
  }

  /// Why there is no page.
  enum Refusal: Error {
    case store(StoreFault)
    case problem(Problem)
    /// A page that says what is wrong.
    case page(Response)
    /// The page has another URL.
    case moved(Link)
  }

  var now: Timestamp { Timestamp(unixMilliseconds: services.clock.wallMilliseconds) }

  func response(to refusal: Refusal, _ scope: RequestScope) -> Response {
    switch refusal {
    case .problem(let problem): return answer(problem, scope)
    case .page(let page): return page
    case .moved(let link): return .redirect(to: link)
    case .store(let error):
      services.log.error(
        "the dashboard could not read the database",
        ["error": error.description, "request_id": scope.requestID])
      return answer(.pageUnreadable, scope)
    }
  }

  func answer(_ problem: Problem, _ scope: RequestScope) -> Response {
    isProgram ? problem.response(requestID: scope.requestID) : problem.page(requestID: scope.requestID)
  }

  func failed() throws(Refusal) -> DashboardPage {
    let now = now
    let (groups, replays) = try read { source throws(StoreFault) in
      (
        try FailedPage.Group.all(source.reader, withAnswers: mayChange, now: now),
        try source.reader.openReplays()
      )
    }
    return FailedPage(
      groups: groups, replays: replays, mayChange: mayChange,
      showsProcessor: Set(groups.map(\.failures.processor)).union(apps.current.processorNames).count > 1,
      now: now
    ).page
  }

  // MARK: Reading

  func read<Result>(_ body: (inout Source) throws(StoreFault) -> Result) throws(Refusal) -> Result {
    let result: Swift.Result<Result, StoreFault> = source.withLock { source in
      do throws(StoreFault) {
        return .success(try body(&source))
      } catch {
        return .failure(error)
      }
    }
    switch result {
    case .success(let value): return value
    case .failure(let error): throw .store(error)
    }
  }

  /// Decodes a query.
  func form(_ query: String?) throws(Refusal) -> AdminForm {
    do throws(Fault) {
      return try AdminForm(query)
    } catch {
      throw .problem(Self.problem(error))
    }
  }

  static func problem(_ fault: Fault) -> Problem {
    let subject = fault.path.isEmpty ? "What was sent" : "`\(fault.path)`"
    return .invalid("invalid-filter", "\(subject) \(fault.message). Correct it, and send it again.")
  }

  static func invalid(_ field: String, _ message: String) -> Problem {
    problem(Fault(path: field, message: message))
  }

  /// The dashboard of the processor of a purchase or an event.
  /// - Parameter others: further ids of the same purchase.
  func portal(_ app: AppSlug, _ processor: ProcessorName, beside others: [String] = []) -> Portal {
    guard let app = apps.current[app] else { return Portal() }
    return Portal(label: app.label(of: processor)) { id in
      app.portalPage(of: id, beside: others, at: processor)
    }
  }

  func receipt(_ id: ReceiptID, _ form: AdminForm) throws(Refusal) -> DashboardPage {
    let now = now
    let configured = apps.current
    let page: ReceiptPage? = try read { source throws(StoreFault) in
      guard let detail = try self.detail(of: id, source.reader, now: now),
        let receipt = detail.record.receipt
      else { return nil }
      let record = detail.record
      let story = ReceiptStory(
        detail, audit: try source.reader.audit(of: record, limit: ReceiptPage.auditEntryLimit),
        jobs: try source.reader.jobs(ofPurchase: record.rowID))
      let app = configured[record.app]
      let processor = record.purchase.key.processor
      let destinations = app?.destinations(of: record.purchase.key) ?? .none
      let name = receipt.copyOf?.destination ?? receipt.destination ?? destinations.present
      let breakers = try source.reader.breakers()
      let summary = try Self.summary(of: id, record.app, source.reader)
      return ReceiptPage(
        detail: detail, receipt: receipt, summary: summary, story: story,
        breaker: name.flatMap { breakers[AppDestination(record.app, $0)] },
        pause: try source.reader.pause(of: record.app),
        destinationAdvice: app?.routes.first { $0.name == name }?.advice,
        destinations: destinations, rate: app?.delivery.ratePerSecond, processor: app?.rules(of: processor),
        isKnownFailure: try KnownFailures(source.reader).contains(record),
        processorLabel: app?.label(of: processor),
        portal: portal(
          record.app, processor,
          beside: [record.purchase.sessionID?.text ?? "", record.purchase.key.id.text]),
        mayChange: mayChange, done: form["done"], now: now)
    }
    guard let page else { throw .problem(.unknownReceipt) }
    return page.page
  }

  /// What was bought, as far as the stored events say it.
  private static func summary(
    of id: ReceiptID, _ app: AppSlug, _ reader: StoreReader
  ) throws(StoreFault) -> PurchaseSummary? {
    let processors = ProcessorRegistry.standard
    let bodies = try reader.summaryBodies(ofReceipt: id, app: app, isWanted: processors.canSummarize)
    return bodies.reduce(nil) { known, event in
      let found = processors.summary(event.processor, in: event.body)
      return found.map { known?.adding($0) ?? $0 } ?? known
    }
  }

  /// All that is stored about a receipt; nil if there is none.
  func detail(of id: ReceiptID, _ reader: StoreReader, now: Timestamp) throws(StoreFault) -> ReceiptDetail? {
    guard var detail = try reader.detail(receipt: id) else { return nil }
    let record = detail.record
    let app = apps.current[record.app]
    detail.nearMisses = try reader.nearMisses(
      of: record, policy: app?.join ?? JoinPolicy(),
      processor: app?.rules(of: record.purchase.key.processor) ?? ProcessorRules(), now: now)
    return detail
  }

  func event(_ form: AdminForm) throws(Refusal) -> DashboardPage {
    guard let id = form["id"] else { throw .problem(.notFound) }
    let events = try read { source throws(StoreFault) in try source.reader.events(id: EventID(id)) }
    guard !events.isEmpty else { throw .problem(.unknownEvent) }
    return EventPage(
      events: events.map { event in
        let portal = portal(event.summary.app, event.summary.processor)
        return (event.summary, mayChange ? event.body : nil, portal)
      }, now: now
    ).page
  }
}

extension Response {
  /// A page with another URL (RFC 9110 §15.4.4).
  static func redirect(to link: Link) -> Response {
    Response(status: 303, headers: HTMLDocument.protectingHeaders + [(name: "Location", value: link.text)])
  }
}

extension Problem {
  static let unknownReceipt = Problem(
    slug: "unknown-receipt", title: "No such receipt", status: 404,
    detail: "There is no receipt with this id, or it was deleted.")
  static let unknownEvent = Problem(
    slug: "unknown-event", title: "No such event", status: 404,
    detail: "There is no event with this id, or it was deleted.")
}

// MARK: - Attempts

// The pages about attempts to deliver, and how long they took.

extension Dashboard {
  /// How long the deliveries of an app took, by destination.
  static func latencies(
    of app: AppSlug, _ span: ChartSpan, _ reader: StoreReader, now: Timestamp
  ) throws(StoreFault) -> [LatencySection] {
    var sections: [LatencySection] = []
    for place in try reader.latencyPlaces() where place.app == app {
      sections.append(
        LatencySection(
          place: place, hour: try reader.latencies(place, .hour, now: now),
          byHour: try reader.latenciesByHour(place, last: LatencySection.hours, now: now), span: span,
          now: now))
    }
    return sections
  }
}

// MARK: - Jobs

// Replays of many receipts: each is a job, which continues after the request and after a restart.

extension Dashboard {
  /// Starts the job, then redirects to its page.
  /// - Parameter rate: receipts per second.
  func replay(
    _ filter: ReceiptFilter, rate: Double, _ words: String?, _ visitor: String, _ exchange: Exchange
  ) {
    let request = JobRequest(
      kind: .replay, source: .filter(filter, limit: nil), ratePerSecond: rate, actor: visitor, reason: words)
    let now = now
    let command = Audited(StartJob(request)) { job in
      AuditEntry(
        at: now, actor: visitor, action: "receipts replay", app: filter.app, subject: job.id.text,
        reason: words)
    }
    apply(command, app: filter.app, exchange) { job in .success(Link("jobs", job.id.text)) }
  }

  /// A job with the rate of its apps' deliveries.
  func pacedJob(_ id: JobID, _ reader: StoreReader) throws(StoreFault) -> Job? {
    try reader.job(id: id).map { job throws(StoreFault) in try paced(job, reader) }
  }

  /// The same job with the rate of its apps' deliveries.
  func paced(_ job: Job, _ reader: StoreReader) throws(StoreFault) -> Job {
    guard job.endedAt == nil, job.request.ratePerSecond != nil else { return job }
    var job = job
    job.deliveriesPerSecond = health.configuration.deliveryRate(of: try reader.plannedApps(ofJob: job.row))
    return job
  }

  func job(_ id: String, _ form: AdminForm, isLive: Bool) throws(Refusal) -> DashboardPage {
    let now = now
    let page = try read { source throws(StoreFault) -> JobPage? in
      guard let job = try pacedJob(JobID(id), source.reader) else { return nil }
      return JobPage(
        job: job, holds: try source.reader.holds(job, now: now), mayChange: mayChange, done: form["done"],
        isLive: isLive, now: now)
    }
    guard let page else { throw .problem(.unknownJob) }
    return page.page
  }
}

extension StoreReader {
  /// The most jobs of one state that pages compare with failures.
  private static let comparedMax = 20

  /// The replays that have not ended.
  func openReplays() throws(StoreFault) -> [Job] {
    guard !(try openJobs().isEmpty) else { return [] }
    var found: [Job] = []
    for state in [JobState.running, .preparing, .paused] {
      var filter = JobFilter()
      filter.state = state
      found += try jobs(filter, limit: Self.comparedMax).filter { $0.request.kind == .replay }
    }
    return found
  }
}

extension Job {
  /// Whether it sends receipts of the group again.
  func replays(_ group: FailureGroup) -> Bool {
    guard request.kind == .replay, case .filter(let filter, _) = request.source else { return false }
    return [nil, group.app].contains(filter.app) && [nil, group.processor].contains(filter.processor)
      && (filter.states.isEmpty || filter.states.contains(.failed))
      && [nil, group.reason].contains(filter.reason)
      && [nil, group.cause ?? ""].contains(filter.cause)
  }
}

extension Problem {
  static let unknownJob = Problem(
    slug: "unknown-job", title: "No such job", status: 404,
    detail: "There is no job with this id, or it was deleted.")
}

// MARK: - Failures

// Groups of failures: acknowledge them, and open them again.

/// What an operator can note about a group of failures.
enum FailureChange: String, Sendable, CaseIterable {
  case acknowledge, reopen

  var label: String { self == .acknowledge ? "Acknowledge" : "Reopen" }

  func purpose(_ group: FailureGroup) -> String {
    "failures \(rawValue) \(group.app) \(group.processor) \(group.reason) \(group.cause ?? "")"
  }
}

extension Dashboard {
  private func formChange(_ group: FailureGroup, _ change: FailureChange) -> FormChange {
    FormChange(
      purpose: change.purpose(group),
      action: change == .acknowledge ? "failures ack" : "failures reopen", app: group.app, place: .failed,
      target: Link("failed", change.rawValue), back: Link("failed"))
  }

  func confirmation(
    group: FailureGroup, _ change: FailureChange, owner: String? = nil, complaint: String? = nil
  ) -> ConfirmationPage {
    let asked = formChange(group, change)
    let hidden: [(name: String, value: String)] = [
      ("app", group.app.text), ("processor", group.processor.text), ("reason", group.reason),
      ("cause", group.cause ?? ""),
    ]
    let what =
      "\(PageParts.counted(group.count, "receipt")) of \(group.app), paid by \(group.processor), failed for "
      + "\(group.reason) (\(Reason(group.reason).meaning))."
    switch change {
    case .acknowledge:
      return question(
        asked, title: "Acknowledge this group?",
        text: [what, "It stays quiet until more receipts fail. A replay that empties it resolves it."],
        button: "Acknowledge", hidden: hidden,
        fields: [
          ConfirmationPage.Field(
            name: "owner", label: "Who takes care of it", value: owner ?? "",
            help: "A name that your colleagues know. No data of a user.", isRequired: true)
        ], complaint: complaint)
    case .reopen:
      return question(
        asked, title: "Reopen this group?", text: [what], button: "Reopen", hidden: hidden,
        complaint: complaint)
    }
  }

  func change(
    _ change: FailureChange, _ form: AdminForm, _ visitor: String, _ exchange: Exchange
  ) throws(Refusal) {
    let group = try group(form)
    let asked = formChange(group, change)
    try check(form, for: asked.purpose)
    let details = JSONValue.object([
      .init(name: "reason", value: .string(group.reason)),
      .init(name: "cause", value: .optional(group.cause)),
      .init(name: "processor", value: .string(group.processor.text)),
    ])
    let entry = entry(asked, form, visitor, details)
    let filter = FailureChoice(
      processor: group.processor, reason: group.reason, cause: group.cause ?? "")
    switch change {
    case .acknowledge:
      guard let owner = form["owner"], !owner.allSatisfy(\.isWhitespace) else {
        let page = confirmation(group: group, change, complaint: "Say who takes care of it.")
        return answer(.question(page), exchange)
      }
      let command = AcknowledgeFailures(
        app: group.app, filter, owner: String(owner.prefix(100)), note: form.why ?? "", actor: visitor)
      apply(Audited(command) { $0 == 0 ? nil : entry }, app: group.app, exchange) { _ in
        .success(asked.back)
      }
    case .reopen:
      let command = ReopenFailures(app: group.app, filter)
      apply(Audited(command) { $0 == 0 ? nil : entry }, app: group.app, exchange) { _ in
        .success(asked.back)
      }
    }
  }
}
