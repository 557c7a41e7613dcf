// `receipts cancel` and `receipts complete`: what a person decides about single receipts.

internal import Domain
internal import JSON
internal import Relay
internal import Store
internal import Terminal

enum ReceiptCancel {
  static func run(_ session: Session) throws -> ExitCode {
    guard let why = try session.reason(option: "why") else {
      throw session.usage("receipts cancel needs --why TEXT: a few words for whoever asks later")
    }
    let configuration = try session.configuration()
    let found = try known(session, session.reader(configuration))
    let output = session.output
    if session.command.flag("dry-run") {
      for receipt in found { output.line("\(DisplayText.clean(receipt.id)) is \(receipt.state.rawValue)") }
      output.line("Would cancel \(ReceiptReplay.counted(found.count)); nothing was changed.")
      return .done
    }
    if found.count > 1 { try session.ask("Cancel \(ReceiptReplay.counted(found.count))?") }
    let commands = found.map { receipt in
      let entry = session.auditEntry(app: receipt.app, subject: receipt.id, reason: why)
      return Audited(CancelReceipt(id: receipt.id, note: why)) { $0 == .done ? entry : nil }
    }
    let outcomes = try session.writer(configuration).apply(CommandList(commands), now: session.moment)
    session.wakeDaemon(configuration)
    let refusals = Refusals(output)
    var cancelled: [String] = []
    for (receipt, outcome) in zip(found, outcomes) {
      if outcome == .done {
        cancelled.append(receipt.id)
      } else {
        refusals.add(receipt.id, explanation(outcome))
      }
    }
    if session.isJSON {
      output.json([
        "cancelled": .integer(Int64(cancelled.count)), "ids": .array(cancelled.map(JSONValue.string)),
      ])
    } else {
      output.line("Cancelled \(ReceiptReplay.counted(cancelled.count)).")
    }
    refusals.note()
    if refusals.isEmpty { return .done }
    return cancelled.isEmpty ? .refused : .partly
  }

  /// The receipts that are named, in the order given; all of them, or none is touched.
  private static func known(_ session: Session, _ reader: StoreReader) throws -> [ReceiptOutline] {
    let ids = session.command.positionals
    let byID = Dictionary(
      try ReceiptOutline.all(ids, reader).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let unknown = ids.filter { byID[$0] == nil }
    guard unknown.isEmpty else { throw ReceiptsNoun.unknown(unknown) }
    var seen: Set<String> = []
    return ids.filter { seen.insert($0).inserted }.compactMap { byID[$0] }
  }

  private static func explanation(_ outcome: OperatorResult) -> String {
    switch outcome {
    case .notAllowed(.delivered): "is delivered already and cannot be taken back"
    case .notAllowed(.cancelled): "is cancelled already"
    default: outcome.explanation(id: "")
    }
  }
}

enum ReceiptComplete {
  static func run(_ session: Session) throws -> ExitCode {
    let options = session.command.options
    for name in ["user", "price"] {
      guard let value = options[name] else { continue }
      guard OutsideText.identifier(value) != nil else {
        throw session.usage(
          "--\(name) must be 1 to \(OutsideText.identifierBytesMax) bytes without control characters")
      }
    }
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    let id = session.command.positionals[0]
    guard let record = try reader.receipt(id: id) else { throw ReceiptsNoun.unknown([id]) }
    guard configuration.app(record.app) != nil else {
      throw OperatorFault(
        .refused,
        "\(DisplayText.clean(id)) is of the app '\(DisplayText.clean(record.app))', which is not configured; "
          + "add it to \(DisplayText.clean(session.configurationPath))")
    }
    let command = CompleteReceipt(
      id: id, userID: options["user"], priceID: options["price"], contextID: options["context"])
    let supplied = ["user", "price", "context"].filter(options.contains).map(JSONValue.string)
    let entry = session.auditEntry(
      app: record.app, subject: id, reason: try session.reason(option: "why"),
      details: ["supplied": .array(supplied)])
    let audited = Audited(command) { $0 == .done ? entry : nil }
    let outcome = try session.writer(configuration).apply(audited, now: session.moment)
    guard outcome == .done else {
      let code: ExitCode = outcome == .notFound ? .notFound : .refused
      throw OperatorFault(code, "\(DisplayText.clean(id)) \(outcome.explanation(id: id))")
    }
    session.wakeDaemon(configuration)
    if session.isJSON, let completed = try reader.receipt(id: id) {
      session.output.json(ReceiptJSON.summary(of: completed))
    } else {
      session.output.line("\(DisplayText.clean(id)) is complete and due now.")
    }
    return .done
  }
}
