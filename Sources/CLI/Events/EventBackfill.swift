// `events backfill`: reads the processor's list of events and ingests the missing ones, one slice per
// transaction, so that receiptd never waits long for the write lock.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Service
internal import Store
internal import Terminal

struct EventBackfill {
  /// Events per transaction: receiptd waits a few milliseconds for it.
  static let slice = 50

  /// The results for one app.
  private struct Tally {
    var listed = 0
    var missing = 0
    var ofReceipts = 0
    var pages = 0
    var fault: OperatorFault?
  }

  private let session: Session
  private let configuration: Configuration
  private let since: Timestamp
  private let isDry: Bool
  private let why: String?
  private let reader: StoreReader
  private let writer: StoreWriter?

  static func run(_ session: Session) throws -> ExitCode {
    guard let since = try session.time("since") else {
      throw session.usage("name the start: --since 3d")
    }
    let configuration = try session.wholeConfiguration()
    let (apis, skipped) = try apis(configuration, session)
    for api in apis {
      let earliest = session.now - api.eventsKept
      let days = api.eventsKept.components.seconds / 86_400
      guard since >= earliest else {
        throw session.usage(
          "--since: the processor lists events of \(days) days only; use --since \(days)d. What is older "
            + "must be completed one by one: receiptctl receipts complete")
      }
    }
    let isDry = session.command.flag("dry-run")
    let backfill = EventBackfill(
      session: session, configuration: configuration, since: since, isDry: isDry,
      why: try session.why(), reader: try session.reader(configuration),
      writer: isDry ? nil : try session.writer(configuration))
    for app in skipped { backfill.say(skipped: app) }
    return try backfill.perform(apis)
  }

  /// The app given by `--app`, else every app with a key; and the apps without one.
  private static func apis(
    _ configuration: Configuration, _ session: Session
  ) throws -> (asked: [ProcessorAPI], skipped: [AppConfiguration]) {
    let apps = try session.configuredApp(configuration).map { [$0] } ?? configuration.apps
    var (apis, skipped): ([ProcessorAPI], [AppConfiguration]) = ([], [])
    for app in apps {
      let asked = try ProcessorAPI.of(app).filter { $0.eventsKept > .zero }
      apis += asked
      if asked.isEmpty { skipped.append(app) }
    }
    guard !apis.isEmpty else {
      guard let kind = apps[0].eventLister else { throw OperatorFault(.configuration, noLister(apps[0])) }
      throw OperatorFault(
        .configuration,
        "\(keyPath(kind, apps[0])): is not set; \(kind.label) can be asked only with a key that may read "
          + "events: \"env:NAME\" or \"file:/path\"")
    }
    return (apis, skipped)
  }

  private init(
    session: Session, configuration: Configuration, since: Timestamp, isDry: Bool, why: String?,
    reader: StoreReader, writer: StoreWriter?
  ) {
    self.session = session
    self.configuration = configuration
    self.since = since
    self.isDry = isDry
    self.why = why
    self.reader = reader
    self.writer = writer
  }

  private func perform(_ apis: [ProcessorAPI]) throws -> ExitCode {
    var tallies: [Tally] = []
    for api in apis {
      var tally = Tally()
      do {
        try goThrough(api, &tally)
      } catch let fault as OperatorFault {
        tally.fault = fault
      } catch let error as StoreFault {
        tally.fault = OperatorFault(error)
      }
      if tally.missing > 0, !isDry { session.wakeDaemon(configuration) }
      say(tally, api)
      tallies.append(tally)
    }
    let faults = tallies.compactMap(\.fault)
    guard let first = faults.first else { return .done }
    // Events that were ingested stay; running the command again does the rest.
    let isPartly = faults.count < tallies.count || tallies.contains { $0.pages > 0 }
    return isPartly ? .partly : first.code
  }

  private func goThrough(_ api: ProcessorAPI, _ tally: inout Tally) throws {
    let caller = try ProcessorCaller(api, session)
    var line = ProgressLine(on: session.output.notes, clock: session.dependencies.clock)
    defer { line.finish() }
    let undelivered = session.command.flag("undelivered")
    for list in api.eventLists(since: since, undeliveredOnly: undelivered) {
      var list = list
      repeat {
        let body = try caller.ask(api.request(list))
        guard let events = api.read(page: body, of: &list, now: session.moment) else {
          let key = "\(api.processorName).api_base"
          throw OperatorFault(
            .badData, "what answers at \(key) of '\(api.app)' has no list of events")
        }
        tally.pages += 1
        var rest = events[...]
        while !rest.isEmpty {
          try ingest(Array(rest.prefix(Self.slice)), &tally)
          rest = rest.dropFirst(Self.slice)
          line.update(
            "\(DisplayText.clean(api.app.text)): page \(CountText.grouped(tally.pages)), "
              + "\(CountText.of(tally.listed, "event")), "
              + "\(CountText.grouped(tally.missing)) missing")
        }
      } while !list.isAtEnd
    }
  }

  /// Ingests the events that are missing.
  private func ingest(_ events: [IngestEvent], _ tally: inout Tally) throws {
    var missing: [IngestEvent] = []
    for event in events
    where try !reader.hasEvent(id: event.eventID, app: event.app, processor: event.processor) {
      missing.append(event)
    }
    tally.listed += events.count
    guard let app = missing.first?.app else { return }
    guard let writer else {
      tally.missing += missing.count
      return
    }
    let (session, why) = (session, why)
    let command = Audited(CommandList(missing)) { outcomes in
      let stored = outcomes.count { $0 != .repeated }
      return stored == 0
        ? nil : session.auditEntry(app: app, reason: why, details: ["events": .integer(Int64(stored))])
    }
    for case .stored(let became) in try writer.apply(command, now: session.moment) {
      tally.missing += 1
      if became == .receipt { tally.ofReceipts += 1 }
    }
  }

  private static func keyPath(_ kind: ProcessorKind, _ app: AppConfiguration) -> String {
    "apps.\(app.slug).\(kind.apiKeyPath)"
  }

  private static func noLister(_ app: AppConfiguration) -> String {
    "apps.\(app.slug): no processor of the app lists its events"
  }

  /// Reports an app that was skipped, so that its events do not look complete.
  private func say(skipped app: AppConfiguration) {
    let kind = app.eventLister
    let cause = kind.map { "\(Self.keyPath($0, app)) is not set" } ?? Self.noLister(app)
    if session.isJSON {
      session.output.json([
        "app": .string(app.slug.text), "since": .string(since.text), "events": 0, "missing": 0,
        "is_complete": false, "skipped": .string(cause),
      ])
    }
    session.output.note(
      "\(DisplayText.clean(app.slug.text)): skipped, nothing was fetched: \(DisplayText.clean(cause))"
        + (kind.map { ", and \($0.label) lists events only to a key that may read them" } ?? ""))
  }

  private func say(_ tally: Tally, _ api: ProcessorAPI) {
    let (output, app) = (session.output, DisplayText.clean(api.app.text))
    if session.isJSON {
      var members: [JSONValue.Member] = [
        .init(name: "app", value: .string(api.app.text)), .init(name: "since", value: .string(since.text)),
        .init(name: "events", value: .integer(Int64(tally.listed))),
        .init(name: "missing", value: .integer(Int64(tally.missing))),
      ]
      if !isDry { members.append(.init(name: "of_receipts", value: .integer(Int64(tally.ofReceipts)))) }
      members.append(.init(name: "is_complete", value: .bool(tally.fault == nil)))
      output.json(.object(members))
    } else {
      let (found, missing) = (CountText.of(tally.listed, "event"), CountText.grouped(tally.missing))
      if isDry {
        output.line("\(app): found \(found), \(missing) would be ingested; nothing was changed")
      } else {
        output.line(
          "\(app): found \(found); ingested \(missing) that \(tally.missing == 1 ? "was" : "were") missing, "
            + "\(CountText.grouped(tally.ofReceipts)) of them for receipts")
      }
    }
    if let fault = tally.fault {
      output.error(fault.message + (tally.pages > 0 ? "; what was found before was ingested" : ""))
    }
  }
}
