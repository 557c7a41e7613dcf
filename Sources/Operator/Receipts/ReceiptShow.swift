// `receipts show`: everything known about one receipt, on one screen.

internal import Configuration
internal import Domain
internal import Presentation
internal import Relay
internal import Store
internal import Terminal

enum ReceiptShow {
  /// The newest audit entries that are shown; operators rarely change one receipt more often.
  private static let personsMax = 200

  static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    let id = session.command.positionals[0]
    guard let detail = try reader.detail(receipt: ReceiptID(id)), let receipt = detail.record.receipt else {
      throw ReceiptsCommands.unknown([id])
    }
    var ofReceipt = AuditFilter()
    ofReceipt.subject = id
    let audit = try reader.audit(ofReceipt, limit: personsMax)
    let jobs = try reader.jobs(ofPurchase: detail.record.rowID)
    if session.isJSON {
      session.output.json(ReceiptJSON.detail(of: detail, audit: audit, jobs: jobs))
      return .done
    }
    let app = configuration.app(detail.record.app)
    let processor = detail.record.purchase.key.processor
    let name = receipt.destination ?? app?.destination(of: processor)
    let breakers = try reader.breakers()
    let breaker = name.flatMap { breakers[AppDestination(detail.record.app, $0)] }
    let output = session.output
    output.line(Style.bold.applied(to: DisplayText.clean(receipt.id.text), inColour: output.isInColour))
    for (name, value) in ReceiptFacts.all(detail, receipt) {
      let style = name == "state" ? receipt.state.style : .plain
      let shown = style.applied(to: DisplayText.clean(value), inColour: output.isInColour)
      output.line("  \(DisplayText.padded(name, to: 9)) \(shown)")
    }
    output.line()
    output.table(ReceiptStory(detail, receipt, audit: audit, jobs: jobs).table(session))
    output.line()
    let advice = ReceiptAdvice(
      detail.record, receipt, breaker: breaker, destination: name.flatMap { app?.destinationAdvice($0) },
      processor: app?.rules(of: processor), for: .terminal, now: session.now)
    for line in advice.lines { output.line(DisplayText.clean(line)) }
    return .done
  }
}
