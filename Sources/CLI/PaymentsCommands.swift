// `receiptctl payments`: payments whose outcome a processor has not confirmed, and the command that asks it
// again.

internal import Config
internal import Domain
internal import Reports
internal import Service
internal import Store
internal import Terminal

enum PaymentsCommands {
  static let spec = CommandGroup(
    "payments", summary: "Payments whose outcome the processor has not confirmed")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["payments", "list"], summary: "List payments with an unknown outcome",
        discussion: """
          Captures without an outcome, captures that were given up, and payments about which the processor \
          gave no usable answer so far, or for a week: those are not fetched any more, until payments fetch \
          asks again. A payment that was started a moment ago is not listed. receipts show has the details \
          of each. Ends with 3 if there are more.
          """,
        options: [
          OptionSpec("app", placeholder: "APP", help: "Only those of this app"), ProcessorNames.option,
          OptionSpec(
            "limit", placeholder: "N", help: "At most this many of each kind; default \(Page.limitDefault)"),
          OptionSpec(flag: "all", help: "Every payment"), ListFormat.option,
        ],
        examples: [
          ExampleSpec("receiptctl payments list", "What to look at after an outage of a processor")
        ]), run: list),
    Verb(
      spec: CommandSpec(
        ["payments", "fetch"], summary: "Ask the processor for the state of payments now",
        discussion: """
          receiptd fetches each payment as if the processor had reported a change: a payment that is paid \
          gets its receipt, and a reversal is passed on. Repeating this changes nothing.
          """,
        arguments: [
          ArgumentSpec(
            "ID", help: "the processor's id of the payment, or its receipt; - reads ids from the input",
            isRepeatable: true)
        ],
        options: [
          OptionSpec("app", placeholder: "APP", help: "Only those of this app"), CommandTable.why,
        ],
        examples: [
          ExampleSpec("receiptctl payments fetch 002.u2fnbq7kgn0p4h5m", "One payment"),
          ExampleSpec(
            "receiptctl payments list --all --json | receiptctl payments fetch -",
            "All whose outcome is unknown"),
        ]), run: fetch),
  ]

  private static func list(_ session: Session) throws -> ExitCode {
    let isAll = session.command.flag("all")
    if isAll, session.command.options.contains("limit") {
      throw session.usage("--all and --limit exclude each other")
    }
    let given = try session.command.integer("limit", in: 1...Page.limitMax) ?? Page.limitDefault
    let limit = isAll ? Int(Int32.max) : given
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    var filter: PaymentFilter = try session.filter(configuration)
    filter.places = try configuration.places(reader)
    return try session.show(
      filter, limit: limit, reader, configuration,
      more: "More: these are the longest known of each app, processor and kind; use --all")
  }

  private static func fetch(_ session: Session) throws -> ExitCode {
    let configuration = try session.wholeConfiguration()
    let reader = try session.reader(configuration)
    let app = try session.app(configuration)
    let reason = try session.why()
    var ids = session.command.positionals
    if ids == [ReceiptChoice.inputWord] { ids = try InputIDs.read(session) }
    var chosen: [PurchaseRecord] = []
    for id in ids {
      let found = try records(id, reader).filter { app == nil || $0.app == app }
      guard !found.isEmpty else {
        throw OperatorFault(
          .notFound,
          "there is no payment \(DisplayText.clean(id)); nothing was changed. Ids are compared exactly, as "
            + "receiptctl receipts show displays them")
      }
      chosen += found
    }
    guard !chosen.isEmpty else {
      session.output.line("No payment to fetch.")
      return .done
    }
    let writer = try session.writer(configuration)
    var planned = 0
    for record in chosen {
      let object = record.purchase.key.id.text
      let entry = session.auditEntry(app: record.app, subject: object, reason: reason)
      let command = Audited(FetchPurchase(record.reference)) { $0 == .planned ? entry : nil }
      let outcome = try writer.apply(command, now: session.moment)
      if let why = why(outcome, record) {
        session.output.error("\(DisplayText.clean(object)) \(why)")
      } else {
        planned += 1
      }
    }
    session.wakeDaemon(configuration)
    let when = try session.isServed(configuration, reader) ? "now" : "when receiptd runs"
    session.output.line("\(Counted.of(planned, "payment")) \(planned == 1 ? "is" : "are") fetched \(when).")
    return planned == chosen.count ? .done : (planned == 0 ? .refused : .partly)
  }

  private static func records(_ id: String, _ reader: StoreReader) throws -> [PurchaseRecord] {
    if let record = try reader.receipt(id: ReceiptID(id)) { return [record] }
    return try reader.details(object: ObjectID(id)).map(\.record)
  }

  /// Why a payment is not fetched, as the end of a sentence; nil if it is.
  private static func why(_ outcome: FetchPurchase.Outcome, _ record: PurchaseRecord) -> String? {
    switch outcome {
    case .planned: nil
    case .notFound: "no longer exists"
    case .notAsked:
      "cannot be fetched: the configuration has no key for the API of "
        + DisplayText.clean("apps.\(record.app).\(record.purchase.key.processor)")
    case .erased: "was erased with its user"
    }
  }
}
