// The dashboard: makes pages for requests. Runs on the admin listener's thread, so each page reads only a
// little, through indexes. It never writes; changes go to the committer.

internal import Config
internal import Cryptography
internal import Domain
public import Formats
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
  func serving(_ visit: Visit) -> Dashboard {
    var dashboard = self
    dashboard.tokens = tokens.bound(to: visit)
    return dashboard
  }

  /// Why there is no page.
  public enum Refusal: Error {
    case store(StoreFault)
    case problem(Problem)
    /// The page has another URL.
    case moved(Link)
  }

  var now: Timestamp { Timestamp(unixMilliseconds: services.clock.wallMilliseconds) }

  func response(to refusal: Refusal, _ scope: RequestScope) -> Response {
    switch refusal {
    case .problem(let problem): return problem.page(requestID: scope.requestID)
    case .moved(let link): return .redirect(to: link)
    case .store(let error):
      services.log.error(
        "the dashboard could not read the database",
        ["error": error.description, "request_id": scope.requestID])
      return Problem.pageUnreadable.page(requestID: scope.requestID)
    }
  }

  func failed() throws(Refusal) -> DashboardPage {
    let (groups, replays) = try read { source throws(StoreFault) in
      (try source.reader.failures(limit: FailedPage.groupsMax), try source.reader.openReplays())
    }
    return FailedPage(
      groups: groups, replays: replays,
      showsProcessor: Set(groups.map(\.processor)).union(apps.current.processorNames).count > 1, now: now
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
    return .invalid("invalid-filter", "\(subject) \(fault.message). Go back and correct it.")
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
      guard var detail = try source.reader.detail(receipt: id), let receipt = detail.record.receipt else {
        return nil
      }
      let record = detail.record
      detail.nearMisses = try source.reader.nearMisses(
        of: record, policy: configured[record.app]?.join ?? JoinPolicy(),
        processor: configured[record.app]?.rules(of: record.purchase.key.processor) ?? ProcessorRules(),
        now: now)
      let story = ReceiptStory(
        detail, audit: try source.reader.audit(of: record, limit: ReceiptPage.personsMax),
        jobs: try source.reader.jobs(ofPurchase: record.rowID))
      let app = configured[record.app]
      let processor = record.purchase.key.processor
      let name = receipt.destination ?? app?.destination(of: processor)
      let breakers = try source.reader.breakers()
      return ReceiptPage(
        detail: detail, receipt: receipt, story: story,
        breaker: name.flatMap { breakers[AppDestination(record.app, $0)] },
        destinationAdvice: app?.routes.first { $0.name == name }?.advice,
        destinations: app?.destinations(of: processor) ?? .none, processor: app?.rules(of: processor),
        processorLabel: app?.label(of: processor),
        portal: portal(
          record.app, processor,
          beside: [record.purchase.sessionID?.text ?? "", record.purchase.key.id.text]),
        done: form["done"], now: now)
    }
    guard let page else { throw .problem(.unknownReceipt) }
    return page.page
  }

  func event(_ form: AdminForm) throws(Refusal) -> DashboardPage {
    guard let id = form["id"] else { throw .problem(.notFound) }
    let events = try read { source throws(StoreFault) in try source.reader.events(id: EventID(id)) }
    guard !events.isEmpty else { throw .problem(.unknownEvent) }
    return EventPage(
      events: events.map { ($0.summary, $0.body, portal($0.summary.app, $0.summary.processor)) }, now: now
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
