// `receiptctl events`: the raw webhooks, as received.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Service
internal import Store
internal import Terminal

enum EventsCommands {
  static let spec = CommandGroup("events", summary: "Webhooks and callbacks that were accepted")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["events", "list"], summary: "List events, newest first",
        options: EventFilter.options + Page.options(of: "event"),
        examples: [
          ExampleSpec("receiptctl events list --since 1h", "The events of the last hour"),
          ExampleSpec("receiptctl events list --outcome unparsed", "Events that could not be read"),
        ]), run: list),
    Verb(
      spec: CommandSpec(
        ["events", "show"], summary: "Show an event with its content",
        discussion: "The content is laid out for reading; --json has the exact bytes as text.",
        arguments: [ArgumentSpec("ID", help: "the event, evt_…")],
        examples: [
          ExampleSpec("receiptctl events show evt_1NG8Du2eZvKYlo2CUI79vXWy", "What it says"),
          ExampleSpec(
            "receiptctl events show evt_1NG8Du2eZvKYlo2CUI79vXWy --json | jq -r .body",
            "The bytes, for another tool"),
        ]), run: show),
    Verb(
      spec: CommandSpec(
        ["events", "backfill"],
        summary: "Fetch from \(ProcessorNames.ofListers) the events that never arrived, and ingest them",
        discussion: """
          Reads \(ProcessorNames.eventLists), and ingests each missing event as \
          its webhook would have been. It requests only the types that concern purchases. Running it again \
          changes nothing. Needs \(ProcessorNames.listerKeys) with permission to read events. receiptd may \
          be running or stopped.
          """,
        options: [
          OptionSpec("since", placeholder: "TIME", help: "The start, required: \(MomentText.forms)"),
          OptionSpec(
            "app", placeholder: "APP",
            help: "Only for this app; else for every app with a key, and the others are named"),
          OptionSpec(
            flag: "undelivered",
            help:
              "Only events that \(ProcessorNames.ofListers) could not deliver: faster, but leaves out those "
              + "that it delivered elsewhere only"),
          OptionSpec(flag: "dry-run", short: "n", help: "Only count the missing events"),
          CommandTable.why,
        ],
        examples: [
          ExampleSpec("receiptctl events backfill --since 3d", "After an outage of three days"),
          ExampleSpec("receiptctl events backfill --since 30d --dry-run", "Count the missing events"),
        ]), run: EventBackfill.run),
    Verb(
      spec: CommandSpec(
        ["events", "reprocess"], summary: "Process stored events again with this version of receiptctl",
        discussion: """
          For events that an older version could not read, or that arrived while the configuration was \
          wrong. Each event is processed as if it had just arrived. Running it again changes nothing, and \
          receipts that were sent do not change.
          """,
        arguments: [
          ArgumentSpec(
            "ID", help: "the event, evt_…; - reads ids from stdin, one to a line", isRequired: false,
            isRepeatable: true)
        ],
        options: EventFilter.options + CommandTable.asking + [CommandTable.why],
        examples: [
          ExampleSpec("receiptctl events reprocess --outcome unparsed", "After an update"),
          ExampleSpec("receiptctl events reprocess evt_1NG8Du2eZvKYlo2CUI79vXWy", "One event"),
          ExampleSpec(
            "receiptctl events list --outcome other_mode --json | jq -r .id | receiptctl events reprocess - "
              + "--yes", "Events that a wrong stripe.livemode excluded"),
        ]), run: EventReprocess.run),
  ]

  private static func list(_ session: Session) throws -> ExitCode {
    let page = try Page(session)
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    var filter: EventFilter = try session.filter(configuration)
    if let after = page.after {
      // `ios/evt_1`: two apps may receive the same event.
      let parts = after.split(separator: "/", maxSplits: 1).map(String.init)
      let app = parts.count == 2 ? AppSlug(parts[0]) : filter.app
      filter.after = try reader.row(ofEvent: EventID(parts.last ?? ""), app: app)
      if filter.after == nil {
        throw OperatorFault(
          .notFound, "--after: there is no event \(DisplayText.clean(after)); start again without it")
      }
    }
    return try page.show(session, configuration, EventResource.list, word: { "\($0.app)/\($0.id)" }) {
      after, limit in
      filter.after = after ?? filter.after
      return try filter.read(reader, limit: limit, now: session.now)
    }
  }

  private static func show(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    let id = session.command.positionals[0]
    let found = try reader.events(id: EventID(id))
    guard !found.isEmpty else {
      throw OperatorFault(
        .notFound,
        "there is no event \(DisplayText.clean(id)); it never came, it was refused (a wrong signature or "
          + "sender), or it was older than retention.events. List them with: receiptctl events list")
    }
    let output = session.output
    for (summary, body) in found {
      let reason = try reason(of: summary, body, configuration)
      if session.isJSON {
        output.json(EventResource.detail(of: summary, body: body, reason))
        continue
      }
      output.line(Style.bold.applied(to: DisplayText.clean(summary.id.text), inColour: output.isInColour))
      output.line("  type       \(DisplayText.clean(summary.type))")
      output.line("  app        \(DisplayText.clean(summary.app.text))")
      output.line("  processor  \(DisplayText.clean(summary.processor.text))")
      output.line("  received   \(summary.receivedAt.text) (\(session.relative(summary.receivedAt)))")
      output.line("  outcome    \(DisplayText.clean(summary.outcome))")
      if let reason { output.line("  reason     \(DisplayText.clean(reason))") }
      output.line("  purchase   \(DisplayText.clean(summary.objectID?.text ?? "none"))")
      output.line("  receipt    \(DisplayText.clean(summary.receiptID?.text ?? "none"))")
      output.line()
      for line in try advice(summary, reader, configuration) { output.line(DisplayText.clean(line)) }
      for line in lines(of: body) { output.line(line) }
    }
    return .done
  }

  /// What to do about an event that made no receipt, and an empty line; empty if there is nothing to do.
  private static func advice(
    _ event: EventSummary, _ reader: StoreReader, _ configuration: Configuration
  ) throws -> [String] {
    let section = "apps.\(event.app).\(event.processor)"
    let again = "receiptctl events reprocess \(event.id)"
    func corrected(_ key: String) -> [String] {
      [
        "\(section).\(key) leaves it out. If it is the app's, correct that, then run: receiptctl reload; "
          + "and then: \(again)", "",
      ]
    }
    switch EventOutcome(rawValue: event.outcome) {
    case .noted, .foreign:
      guard let object = event.objectID, event.receiptID == nil else { return [] }
      let label = configuration.app(event.app)?.label(of: event.processor)
      let advice = try reader.details(object: object).filter { detail in
        detail.record.app == event.app && detail.record.purchase.key.processor == event.processor
      }.flatMap { PaymentText.advice($0, label: label) }
      return advice.isEmpty ? [] : advice + [""]
    case .unparsed: return ["Once the cause is corrected, or after an update: \(again)", ""]
    case .otherMode: return corrected("livemode")
    case .otherAccount: return corrected("connect")
    case .receipt, .ignored, .erased, nil: return []
    }
  }

  /// Why an event's sale is not the app's, or why the event could not be read; nil if it is of another
  /// outcome, or could be read now.
  private static func reason(
    of summary: EventSummary, _ body: [UInt8], _ configuration: Configuration
  ) throws -> String? {
    guard let app = configuration.app(summary.app) else { return nil }
    switch EventOutcome(rawValue: summary.outcome) {
    case .foreign:
      return try EventReader(app).foreignRule(body, of: summary.processor)
        ?? "another event of the purchase says that it is not the app's"
    case .unparsed:
      return app.unreadable(summary.processor, in: body).map { fault in
        fault.field == ReadingFault.thin
          ? "\(fault.field): choose the payload style Snapshot for the endpoint at "
            + (app.label(of: summary.processor) ?? "the processor")
          : "cannot read \(fault.field)"
      }
    default: return nil
    }
  }

  /// The content, formatted if it is JSON.
  private static func lines(of body: [UInt8]) -> [String] {
    // An event may be stored as unparsed because it is not JSON.
    let text = (try? JSONValue(parsing: body))?.prettyText ?? String(decoding: body, as: UTF8.self)
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { DisplayText.clean(String($0)) }
  }
}
