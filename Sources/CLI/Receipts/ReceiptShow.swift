// `receipts show`: everything known about one receipt, or about a purchase that has none yet, on one screen.

internal import Config
internal import Domain
internal import Reports
internal import Store
internal import Terminal

enum ReceiptShow {
  /// The newest audit entries that are shown; operators rarely change one receipt more often.
  private static let auditEntryLimit = 200

  static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    let id = session.command.positionals[0]
    let found = try details(id, reader)
    guard !found.isEmpty else { throw ReceiptsCommands.unknown([id], isSearched: true) }
    for (index, detail) in found.enumerated() {
      if index > 0, !session.isJSON { session.output.line() }
      try show(detail, configuration, reader, session)
    }
    return .done
  }

  /// A receipt by its id; else the purchases with this id, which the processor made.
  private static func details(_ id: String, _ reader: StoreReader) throws -> [ReceiptDetail] {
    if let detail = try reader.detail(receipt: ReceiptID(id)) { return [detail] }
    return try reader.details(object: ObjectID(id))
  }

  private static func show(
    _ found: ReceiptDetail, _ configuration: Configuration, _ reader: StoreReader, _ session: Session
  ) throws {
    let (record, receipt) = (found.record, found.record.receipt)
    let app = configuration.app(record.app)
    let processor = record.purchase.key.processor
    var detail = found
    detail.nearMisses = try reader.nearMisses(
      of: record, policy: app?.join ?? JoinPolicy(), processor: app?.rules(of: processor) ?? ProcessorRules(),
      now: session.now)
    let object = record.purchase.key.id.text
    let audit = try reader.audit(of: record, limit: auditEntryLimit)
    let jobs = try reader.jobs(ofPurchase: record.rowID)
    if session.isJSON {
      return session.output.json(ReceiptJSON.detail(of: detail, audit: audit, jobs: jobs))
    }
    let output = session.output
    let title = DisplayText.clean(receipt?.id.text ?? object)
    output.line(Style.bold.applied(to: title, inColour: output.isInColour))
    for fact in ReceiptFacts.all(detail, now: session.now) {
      let style = fact.name == "state" ? receipt?.state.tone.style ?? .plain : .plain
      let shown = style.applied(to: DisplayText.clean(fact.value), inColour: output.isInColour)
      output.line("  \(DisplayText.padded(fact.name, to: 9)) \(shown)")
    }
    output.line()
    output.table(ReceiptStory(detail, audit: audit, jobs: jobs).table(session))
    output.line()
    let why = IdentityText.paragraph(
      record, customerUsers: detail.customerUsers, awaited: detail.awaitedContexts,
      processor: app?.rules(of: processor))
    output.line(DisplayText.clean(why))
    for sentence in JoinText.nearMisses(detail) { output.line(DisplayText.clean("Context \(sentence).")) }
    var advice: [String] = []
    if let receipt {
      let destinations = app?.destinations(of: record.purchase.key) ?? .none
      let name = receipt.copyOf?.destination ?? receipt.destination ?? destinations.present
      let breakers = try reader.breakers()
      advice =
        ReceiptAdvice(
          record, receipt, breaker: name.flatMap { breakers[AppDestination(record.app, $0)] },
          pause: try reader.pause(of: record.app), destination: name.flatMap { app?.destinationAdvice($0) },
          destinations: destinations, rate: app?.delivery.ratePerSecond,
          processor: app?.rules(of: processor), for: .terminal, now: session.now
        ).lines
    }
    advice += PaymentText.advice(detail, label: app?.label(of: processor))
    for line in advice { output.line(DisplayText.clean(line)) }
  }
}

// MARK: - ReceiptTimeline

// The history of one receipt as a table. Pure.

extension ReceiptStory {
  /// How much of an answer is shown; `--json` has all that was stored.
  private static let responseCharactersMax = 200

  func table(_ session: Session) -> Table {
    var table = Table([.init("TIME"), .init("WHEN"), .init("WHAT"), .init("DETAIL")], emptyMessage: "")
    for entry in entries {
      let answer = DisplayText.clean(String(decoding: entry.answer, as: UTF8.self))
      let shown = DisplayText.truncated(answer, to: Self.responseCharactersMax)
      table.add([
        Table.Cell(entry.time.text), Table.Cell(session.relative(entry.time)),
        Table.Cell(entry.what, entry.tone.style),
        Table.Cell(answer.isEmpty ? entry.detail : "\(entry.detail): \(shown)"),
      ])
    }
    return table
  }
}
