// `receipts correct`: of a single receipt, what would be sent is shown before the question. Several are a
// bulk change.

internal import Config
internal import Domain
internal import Formats
internal import Reports
internal import Store
internal import Terminal

enum ReceiptCorrect {
  static func run(_ session: Session) throws -> ExitCode {
    let options = session.command.options
    try ReceiptComplete.checkValues(session)
    guard let why = try session.why() else {
      throw session.usage("receipts correct needs --why TEXT: the reason, in a few words")
    }
    guard ["user", "price", "context"].contains(where: options.contains) else {
      throw session.usage("say what is right: --user USER, --price PRICE or --context ID")
    }
    let ids = session.command.positionals
    if ids.count == 1, ids[0] != ReceiptChoice.inputWord {
      return try correctOne(session, ReceiptID(ids[0]), why: why)
    }
    guard !options.contains("context") else {
      throw session.usage("--context works on a single receipt only; for several, give --user or --price")
    }
    let rate = try session.command.ratePerSecond("rate", in: BulkChange.rates)
    return try BulkChange(.correct, session, why: why, rate: rate).run(askingFrom: 1)
  }

  private static func correctOne(_ session: Session, _ id: ReceiptID, why: String) throws -> ExitCode {
    let options = session.command.options
    try ReceiptComplete.checkSingle(session)
    let shown = DisplayText.clean(id.text)
    let configuration = try session.wholeConfiguration()
    let reader = try session.reader(configuration)
    guard let record = try reader.receipt(id: id) else { throw ReceiptsCommands.unknown([id.text]) }
    guard let app = configuration.app(record.app) else {
      throw OperatorFault(
        .refused,
        "\(shown) is of the app '\(DisplayText.clean(record.app.text))', which is not configured; "
          + "add it to \(DisplayText.clean(session.configurationPath))")
    }
    let (user, price) = (ReceiptComplete.user(session), options["price"].map { PriceID($0) })
    try ReceiptComplete.check(user, in: app)
    let context = options["context"].map { ContextID($0) }
    let command = CorrectReceipt(id: id, userID: user, priceID: price, contextID: context)
    let writer = try session.writer(configuration)
    let preview = try writer.apply(PreviewCorrection(command), now: session.moment)
    guard let planned = preview.record else { throw refused(record, preview.result) }
    if !session.isJSON {
      for line in ReceiptComplete.plan(planned) { session.output.line(line) }
    }
    let name = planned.receipt?.destination
    if let correction = name.flatMap({ app.destinationAdvice($0)?.secondReceipt }) {
      session.output.note(correction)
    }
    if let copy = record.receipt?.copy {
      let names = DisplayText.clean("\(copy.receipt), for \(copy.destination)")
      session.output.note("The purchase has a second receipt, \(names): it is corrected, too.")
    }
    if session.command.flag("dry-run") {
      session.output.line("Would correct \(Counted.receipts(1)); nothing was changed.")
      return .done
    }
    try session.ask("Send a second receipt for this purchase?")
    let entry = session.auditEntry(
      app: record.app, subject: id.text, reason: why,
      details: CompletionText.details(record.purchase, user: user, price: price, context: context))
    let outcome = try writer.apply(Audited(command) { $0 == .done ? entry : nil }, now: session.moment)
    guard outcome == .done, let made = try reader.receipt(id: id)?.receipt?.correctedBy else {
      throw refused(record, outcome)
    }
    return try ReceiptFollow.conclude(
      made, "\(DisplayText.clean(made.text)) corrects \(shown), and is due now.", session, configuration,
      reader)
  }

  /// Names the correction that exists already.
  private static func refused(_ record: PurchaseRecord, _ outcome: OperatorResult) -> OperatorFault {
    guard outcome == .corrected, let made = record.receipt?.correctedBy else {
      guard case .notAllowed(let state) = outcome else {
        return ReceiptComplete.refused(record.receipt?.id ?? "", outcome)
      }
      let id = DisplayText.clean(record.receipt?.id.text ?? "")
      return OperatorFault(
        .refused, "\(id) \(JobKind.correct.refusal(state, record.receipt?.reason, id: id))")
    }
    return OperatorFault(
      .refused,
      "\(DisplayText.clean(record.receipt?.id.text ?? "")) is corrected by \(DisplayText.clean(made.text)) "
        + "already, which counts; correct that one")
  }
}
