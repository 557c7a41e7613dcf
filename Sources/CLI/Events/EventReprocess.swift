// `events reprocess`: reads stored bytes again with the current reader, and passes the result to the join,
// one slice per transaction.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Service
internal import Store
internal import Terminal

struct EventReprocess {
  /// Events per transaction: receiptd waits a few milliseconds for it.
  static let slice = 50
  /// Events per query.
  private static let pageSize = 1000
  /// More ids than an operator needs to name at once.
  private static let idsMax = 100_000

  private let session: Session
  private let configuration: Configuration
  private let reader: StoreReader
  private let readers: [AppSlug: EventReader]

  static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.wholeConfiguration()
    let reader = try session.reader(configuration)
    var readers: [AppSlug: EventReader] = [:]
    for app in configuration.apps { readers[app.slug] = try EventReader(app) }
    let run = EventReprocess(
      session: session, configuration: configuration, reader: reader, readers: readers)
    return try run.perform(try run.chosen())
  }

  private init(
    session: Session, configuration: Configuration, reader: StoreReader, readers: [AppSlug: EventReader]
  ) {
    self.session = session
    self.configuration = configuration
    self.reader = reader
    self.readers = readers
  }

  /// The events that the command selects, in the order of arrival.
  private func chosen() throws -> [EventSummary] {
    let options = session.command.options
    let ids = try ids()
    if !ids.isEmpty {
      let app = try session.app(configuration)
      let filters = EventFilter.fields.map(\.name).filter { $0 != "app" }
      guard !filters.contains(where: options.contains) else {
        throw session.usage("name events by id, or choose them with filters, not both")
      }
      return try ids.flatMap { id in
        let found = try reader.summaries(ofEvent: EventID(id)).filter { app == nil || $0.app == app }
        guard !found.isEmpty else {
          throw OperatorFault(
            .notFound,
            "there is no event \(DisplayText.clean(id)); nothing was changed. List them with: receiptctl "
              + "events list")
        }
        return found
      }
    }
    guard options.contains("outcome") else {
      throw session.usage("say which: ids, or --outcome with more filters, such as --outcome unparsed")
    }
    var filter: EventFilter = try session.filter(configuration)
    var found: [EventSummary] = []
    var progress = ProgressLine(on: session.output.notes, clock: session.dependencies.clock)
    defer { progress.finish() }
    while true {
      let page = try reader.events(filter, limit: Self.pageSize)
      found += page
      progress.update("choosing events: \(CountText.grouped(found.count))")
      guard page.count == Self.pageSize, let last = page.last else { return found.reversed() }
      filter.after = last.row
    }
  }

  /// The ids on the command line, or with `-` those on stdin, one per line.
  private func ids() throws -> [String] {
    let given = session.command.positionals
    guard given.contains("-") else { return given }
    guard given.count == 1 else { throw session.usage("- reads ids from stdin; name no other ids with it") }
    let ids = try InputIDs.read(session)
    guard ids.count <= Self.idsMax else { throw session.usage("- reads up to \(Self.idsMax) ids") }
    guard !ids.isEmpty else { throw OperatorFault(.badData, "there is no id on stdin") }
    return ids
  }

  private func perform(_ events: [EventSummary]) throws -> ExitCode {
    let known = events.filter { readers[$0.app]?.reads($0.processor) ?? false }
    if known.count < events.count {
      session.output.error(
        "\(CountText.grouped(events.count - known.count)) are of apps or processors that are not configured, "
          + "and are left")
    }
    let (readable, unreadable) = try split(known)
    if let first = unreadable.first {
      session.output.error(
        "the bytes of \(Counted.of(unreadable.count, "event")) cannot be read (the first is "
          + "\(DisplayText.clean(first.id.text))), and are left. Check the database with: receiptctl db check"
      )
    }
    if session.command.flag("dry-run") {
      try say(try wouldBecome(readable), isDry: true)
      return .done
    }
    if !readable.isEmpty { try session.ask("Read \(Counted.of(readable.count, "event")) again?") }
    try say(try apply(readable), isDry: false)
    return readable.count == events.count ? .done : (readable.isEmpty ? .refused : .partly)
  }

  /// Tries to read the bytes of each event: damage, or an unknown dictionary, concerns single events.
  private func split(
    _ events: [EventSummary]
  ) throws -> (readable: [EventSummary], unreadable: [EventSummary]) {
    var (readable, unreadable): ([EventSummary], [EventSummary]) = ([], [])
    for event in events {
      do throws(StoreFault) {
        _ = try reader.body(ofEvent: event.row)
        readable.append(event)
      } catch {
        guard error.kind == .corrupt else { throw error }
        unreadable.append(event)
      }
    }
    return (readable, unreadable)
  }

  private func wouldBecome(
    _ events: [EventSummary]
  ) throws -> [(event: EventSummary, outcome: ReprocessEvent.Outcome)] {
    var bar = ProgressBar(
      "reading", total: events.count, on: session.output.notes, clock: session.dependencies.clock)
    defer { bar.finish() }
    return try events.enumerated().map { number, event in
      bar.update(done: number)
      return (event, try readings(event))
    }
  }

  /// The outcome that the event's content alone would give; `after` is nil if the join decides it.
  private func readings(_ event: EventSummary) throws -> ReprocessEvent.Outcome {
    let before = EventOutcome(rawValue: event.outcome)
    guard let body = try reader.body(ofEvent: event.row), let today = read(body, of: event) else {
      return .init(before: nil, after: nil)
    }
    switch today.content {
    case .nothing(let outcome): return .init(before: before, after: event.receiptID == nil ? outcome : before)
    case .customer: return .init(before: before, after: .noted)
    case .report, .fetch: return .init(before: before, after: event.receiptID == nil ? nil : .receipt)
    }
  }

  /// The event as the current reader understands it; nil when its app or its processor is no longer
  /// configured.
  private func read(_ body: [UInt8], of event: EventSummary) -> IngestEvent? {
    readers[event.app]?.event(body, of: event.processor, now: session.moment)
  }

  private func apply(
    _ events: [EventSummary]
  ) throws -> [(event: EventSummary, outcome: ReprocessEvent.Outcome)] {
    guard !events.isEmpty else { return [] }
    let writer = try session.writer(configuration)
    let why = try session.why()
    var bar = ProgressBar(
      "reading", total: events.count, on: session.output.notes, clock: session.dependencies.clock)
    defer { bar.finish() }
    var results: [(event: EventSummary, outcome: ReprocessEvent.Outcome)] = []
    var rest = events[...]
    while !rest.isEmpty {
      let slice = rest.prefix(Self.slice)
      rest = rest.dropFirst(slice.count)
      var readable: [EventSummary] = []
      var commands: [Audited<ReprocessEvent>] = []
      for event in slice {
        let body = try reader.body(ofEvent: event.row) ?? []
        guard let today = read(body, of: event) else {
          let before = EventOutcome(rawValue: event.outcome)
          results.append((event, .init(before: before, after: before)))
          continue
        }
        let session = session
        readable.append(event)
        commands.append(
          Audited(ReprocessEvent(today, row: event.row)) { outcome in
            guard let before = outcome.before, let after = outcome.after, outcome.isChange else { return nil }
            return session.auditEntry(
              app: event.app, subject: event.id.text, reason: why,
              details: ["before": .string(before.rawValue), "after": .string(after.rawValue)])
          })
      }
      results += zip(readable, try writer.apply(CommandList(commands), now: session.moment)).map { ($0, $1) }
      session.wakeDaemon(configuration)
      bar.update(done: results.count)
    }
    return results
  }

  private func say(
    _ results: [(event: EventSummary, outcome: ReprocessEvent.Outcome)], isDry: Bool
  ) throws {
    let output = session.output
    if session.isJSON {
      for (event, outcome) in results {
        output.json([
          "id": .string(event.id.text), "app": .string(event.app.text),
          "before": .optional(outcome.before?.rawValue), "after": .optional(outcome.after?.rawValue),
        ])
      }
      return
    }
    var groups: [String: Int] = [:]
    for (_, outcome) in results where outcome.isChange {
      let before = outcome.before?.rawValue ?? "gone"
      let after = outcome.after?.rawValue ?? (isDry ? "is read" : "gone")
      groups["\(before) → \(after)", default: 0] += 1
    }
    for (words, count) in groups.sorted(by: { $0.key < $1.key }) {
      output.line("\(words)  \(CountText.grouped(count))")
    }
    let changed = groups.values.reduce(0, +)
    let isOpen = isDry && results.contains { $0.outcome.isChange && $0.outcome.after == nil }
    let verb =
      isOpen ? "may change: the join with their purchases decides" : isDry ? "would change" : "changed"
    output.line(
      "\(isDry ? "Would read" : "Read") \(Counted.of(results.count, "event")) again; "
        + "\(CountText.grouped(changed)) \(verb).")
  }
}
