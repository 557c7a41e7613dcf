// The commands that change receipts: what each checks before it begins. `complete` of a single receipt is
// done here: it may set a user and a context, which belong to one purchase only.

internal import Config
internal import Domain
internal import Formats
internal import Reports
internal import Store
internal import Terminal

enum ReceiptReplay {
  static func run(_ session: Session) throws -> ExitCode {
    let rate = try session.command.ratePerSecond("rate", in: BulkChange.rates)
    let why = try session.why()
    return try BulkChange(.replay, session, why: why, rate: rate).run(askingFrom: 1)
  }
}

enum ReceiptCancel {
  static func run(_ session: Session) throws -> ExitCode {
    guard let why = try session.why() else {
      throw session.usage("receipts cancel needs --why TEXT: the reason, in a few words")
    }
    let isNamed = session.command.positionals.count == 1
    return try BulkChange(.cancel, session, why: why).run(askingFrom: isNamed ? 2 : 1)
  }
}

enum ReceiptComplete {
  static func run(_ session: Session) throws -> ExitCode {
    let options = session.command.options
    try checkValues(session)
    let ids = session.command.positionals
    if ids.count == 1, ids[0] != ReceiptChoice.inputWord {
      return try completeOne(session, ReceiptID(ids[0]))
    }
    guard !session.command.flag("force") else {
      throw session.usage("--force works on a single receipt only")
    }
    if ids.isEmpty, !options.contains("state") {
      throw session.usage(
        "say which: ids, '-' to read them from the input, or --state with more filters, such as "
          + "--state failed --reason price")
    }
    guard !options.contains("context"), !options.contains("user") else {
      throw session.usage("--user and --context work on a single receipt only; for several, give --price")
    }
    guard options.contains("price") else {
      throw session.usage("several receipts are completed with --price; name users one receipt at a time")
    }
    let rate = try session.command.ratePerSecond("rate", in: BulkChange.rates)
    let why = try session.why()
    return try BulkChange(.complete, session, why: why, rate: rate).run(askingFrom: 1)
  }

  /// Refuses a user or a price that no receipt can have.
  static func checkValues(_ session: Session) throws {
    for name in ["user", "price"] {
      guard let value = session.command.options[name] else { continue }
      guard UntrustedText.identifier(value) != nil else {
        throw session.usage(
          "--\(name) must be 1 to \(UntrustedText.identifierBytesMax) bytes without control characters")
      }
    }
    if let user = user(session), ContextID.isMeant(by: user.text) {
      throw session.usage("--user names a context, which is never a user; give it as --context")
    }
  }

  /// Refuses the options for several receipts.
  static func checkSingle(_ session: Session) throws {
    guard ReceiptsCommands.givenFilters(session).isEmpty else {
      throw session.usage("name receipts by id, or choose them with filters, not both")
    }
    guard !session.command.options.contains("rate") else {
      throw session.usage("--rate is for several receipts")
    }
  }

  /// `--user`. White space around it is no part of it.
  static func user(_ session: Session) -> UserID? {
    session.command.options["user"].map { UserID(UntrustedText.trimmed($0)) }
  }

  /// Refuses a user who is none in the receipt's app.
  static func check(_ user: UserID?, in app: AppConfiguration) throws {
    guard let user, case .refused = app.userIDs.read(user.text) else { return }
    throw OperatorFault(
      .refused,
      "'\(DisplayText.clean(user.text))' is a placeholder, and no user of "
        + "\(DisplayText.clean(app.slug.text)); user_ids.allow permits it")
  }

  /// A known value that differs from a given one, as the end of a sentence; nil when there is none. Replacing
  /// it needs `--force`.
  private static func known(_ purchase: Purchase, _ user: UserID?, _ price: PriceID?) -> String? {
    if let user, let known = purchase.userID, known != user {
      return "has the user \(DisplayText.clean(known.text)) already"
    }
    guard let price, !purchase.prices.isEmpty, !purchase.prices.contains(price) else { return nil }
    return "has the price \(DisplayText.clean(purchase.prices.map(\.text).joined(separator: ", "))) already"
  }

  static func refused(_ id: ReceiptID, _ outcome: OperatorResult) -> OperatorFault {
    OperatorFault(
      outcome == .notFound ? .notFound : .refused,
      "\(DisplayText.clean(id.text)) \(outcome.explanation(id: id.text))")
  }

  /// The receipt's content as it would be sent, before it is changed.
  static func plan(_ record: PurchaseRecord) -> [String] {
    CompletionText.plan(record).map { name, value in
      "  \(DisplayText.padded(name, to: 8)) \(DisplayText.clean(value))"
    }
  }

  private static func completeOne(_ session: Session, _ id: ReceiptID) throws -> ExitCode {
    let options = session.command.options
    try checkSingle(session)
    let shown = DisplayText.clean(id.text)
    let user = user(session)
    let price = options["price"].map(PriceID.init)
    let configuration = try session.wholeConfiguration()
    let reader = try session.reader(configuration)
    guard let record = try reader.receipt(id: id) else { throw ReceiptsCommands.unknown([id.text]) }
    guard let app = configuration.app(record.app) else {
      throw OperatorFault(
        .refused,
        "\(shown) is of the app '\(DisplayText.clean(record.app.text))', which is not configured; "
          + "add it to \(DisplayText.clean(session.configurationPath))")
    }
    try check(user, in: app)
    // A receipt that is being sent, or was delivered, cannot be changed at all; the store reports that.
    let isOpen = record.receipt?.state != .pending && record.receipt?.state != .delivered
    if isOpen, !session.command.flag("force"),
      let has = known(record.purchase, user, price)
    {
      throw OperatorFault(.refused, "\(shown) \(has); --force replaces it")
    }
    let command = CompleteReceipt(
      id: id, userID: user, priceID: price, contextID: options["context"].map(ContextID.init),
      force: session.command.flag("force"))
    let writer = try session.writer(configuration)
    let preview = try writer.apply(PreviewCompletion(command), now: session.moment)
    guard let planned = preview.record else { throw Self.refused(id, preview.result) }
    if !session.isJSON { for line in Self.plan(planned) { session.output.line(line) } }
    if session.command.flag("dry-run") {
      session.output.line("Would complete \(Counted.receipts(1)); nothing was changed.")
      return .done
    }
    // A script that names the receipt and its user needs no confirmation; an interactive operator first sees
    // what the join found.
    if planned.purchase.contextSource == .guess, session.output.canAsk, !session.command.flag("no-input") {
      try session.ask("Send it with these values?")
    }
    let entry = session.auditEntry(
      app: record.app, subject: id.text, reason: try session.why(),
      details: CompletionText.details(
        record.purchase, user: user, price: price, context: options["context"].map(ContextID.init)))
    let audited = Audited(command) { $0 == .done ? entry : nil }
    let outcome = try writer.apply(audited, now: session.moment)
    guard outcome == .done else { throw Self.refused(id, outcome) }
    return try ReceiptFollow.conclude(
      id, "\(shown) is complete and due now.", session, configuration, reader)
  }
}
