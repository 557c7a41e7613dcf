// `users show`: everything about one user on one screen.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Store
internal import Terminal

enum UserShow {
  /// How many receipts and contexts one screen shows.
  static let shownMax = 10

  static func run(_ session: Session) throws -> ExitCode {
    let user = try UsersCommands.user(session)
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    let survey = try UserSurvey(of: user, app: session.app(configuration), reader)
    guard !survey.parts.isEmpty else {
      throw OperatorFault(
        .notFound,
        "nothing is known of \(DisplayText.clean(user.text)); user ids are compared exactly; see "
          + "receiptctl contexts list")
    }
    guard !session.isJSON else { return try json(user, survey, reader, session) }
    try screen(user, survey, reader, session, configuration)
    return .done
  }

  private static func receipts(_ user: UserID, _ app: AppSlug, _ reader: StoreReader, limit: Int) throws
    -> [PurchaseRecord]
  {
    var filter = ReceiptFilter()
    (filter.userID, filter.app) = (user, app)
    return try reader.receiptPage(filter, limit: limit).entries
  }

  private static func contexts(
    _ user: UserID, _ app: AppSlug, _ reader: StoreReader, _ session: Session, limit: Int
  ) throws -> [ContextSummary] {
    var filter = ContextFilter()
    (filter.userID, filter.app) = (user, app)
    return try reader.contexts(filter, now: session.now, limit: limit)
  }

  private static func screen(
    _ user: UserID, _ survey: UserSurvey, _ reader: StoreReader, _ session: Session,
    _ configuration: Configuration
  ) throws {
    let output = session.output
    let id = DisplayText.clean(user.text)
    output.line(Style.bold.applied(to: id, inColour: output.isInColour))
    for part in survey.parts {
      output.line("  app        \(DisplayText.clean(part.app.text))")
      output.line("  receipts   \(part.receiptCounts)")
      if !part.named.isEmpty {
        output.line("  named for  \(Counted.of(part.named.count, "purchase")) without this user")
      }
      output.line("  contexts   \(CountText.grouped(part.contexts))")
      let customers = part.customers.map { DisplayText.clean($0.text) }.joined(separator: ", ")
      output.line("  customers  \(customers.isEmpty ? "none" : customers)")
      let receipts = try receipts(user, part.app, reader, limit: shownMax)
      if !receipts.isEmpty {
        output.line()
        output.table(session.table(receipts, ReceiptResource.list, configuration))
      }
      let contexts = try contexts(user, part.app, reader, session, limit: shownMax)
      if !contexts.isEmpty {
        output.line()
        output.table(session.table(contexts, ContextResource.list, configuration))
      }
      output.line()
    }
    if survey.parts.contains(where: { $0.receipts.count > shownMax || $0.contexts > shownMax }) {
      output.note(newest(user, ""))
    }
  }

  private static func newest(_ user: UserID, _ options: String) -> String {
    "The newest are shown; all: receiptctl receipts list --user \(ShellWord.quoted(user.text))\(options), "
      + "and contexts list"
  }

  private static func json(
    _ user: UserID, _ survey: UserSurvey, _ reader: StoreReader, _ session: Session
  ) throws -> ExitCode {
    let limit = UserSurvey.listMax
    for part in survey.parts {
      let details = try receipts(user, part.app, reader, limit: limit).compactMap { record in
        try record.receipt.flatMap { try reader.detail(receipt: $0.id) }
      }
      let contexts = try contexts(user, part.app, reader, session, limit: limit)
      session.output.json([
        "user_id": .string(user.text), "app": .string(part.app.text),
        "customers": .array(part.customers.map { .string($0.text) }),
        "receipts": .array(details.map { ReceiptJSON.detail(of: $0) }),
        "contexts": .array(contexts.map { ContextResource.detail(of: $0) }),
      ])
    }
    return survey.isCut ? session.partly(limit, .json, newest(user, " --all --json")) : .done
  }
}
