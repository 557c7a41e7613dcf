// `users forget`: erases a user, in short transactions that can be cut off anywhere and given again; then
// looks through the events that belong to no purchase, which only their content tells.

internal import Domain
internal import JSON
internal import Relay
internal import Store
internal import Terminal

struct UserForget {
  /// Rows of events that one step looks through.
  static let slice: Int64 = 1000

  /// What was done.
  private struct Done {
    var receipts = 0
    var cancelled = 0
    var purchases = 0
    var contexts = 0
    var events = 0
    var open: [String] = []
    var requests: [(app: String, id: String?, fault: String?)] = []

    mutating func add(_ outcome: ForgetPurchases.Outcome) {
      receipts += outcome.receipts
      cancelled += outcome.cancelled
      purchases += outcome.purchases
      events += outcome.events
      open += outcome.open
    }
  }

  private let session: Session
  private let user: String
  private let configuration: Configuration
  private let survey: UserSurvey
  private let reader: StoreReader
  private var done = Done()

  static func run(_ session: Session) throws -> ExitCode {
    let user = try UsersNoun.user(session)
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    let survey = try UserSurvey(of: user, app: session.app(configuration), reader)
    guard !survey.parts.isEmpty || session.command.flag("ask-purchasely") else {
      throw OperatorFault(.notFound, "nothing is known of \(DisplayText.clean(user)); nothing was changed")
    }
    var forget = UserForget(
      session: session, user: user, configuration: configuration, survey: survey, reader: reader)
    return try forget.perform()
  }

  private init(
    session: Session, user: String, configuration: Configuration, survey: UserSurvey, reader: StoreReader
  ) {
    self.session = session
    self.user = user
    self.configuration = configuration
    self.survey = survey
    self.reader = reader
  }

  private mutating func perform() throws -> ExitCode {
    let deletions = try UserDeletions(session, configuration, apps: apps)
    let reason = try session.reason()
    let open = survey.parts.flatMap(\.open).compactMap(\.receiptID)
    session.output.notes.write(plan().text(terminalColumns: session.output.notes.columns))
    if session.command.flag("dry-run") {
      session.output.note("Nothing was changed.")
      return .done
    }
    if !open.isEmpty, !session.command.flag("cancel-open") {
      throw OperatorFault(
        .refused,
        "\(Counted.receipts(open.count)) of this user are still to be delivered "
          + "(\(open.prefix(3).map(DisplayText.clean).joined(separator: ", "))); wait for that, or give "
          + "--cancel-open: then what was paid is not reported; nothing was changed")
    }
    try session.ask("Erase \(DisplayText.clean(user))? There is no way back.")
    // First what only its content tells: from the rest the ids are taken that it is known by.
    try emptyLooseEvents()
    for part in survey.parts { try empty(part) }
    try writeDown(reason)
    done.requests = deletions.ask(toForget: user, session)
    return report()
  }

  /// The apps that may know the user.
  private var apps: [String] {
    if let app = session.command.options["app"] { return [app] }
    let known = survey.parts.map(\.app)
    return known.isEmpty ? configuration.apps.map(\.slug) : known
  }

  private func plan() -> Table {
    var table = Table(
      [
        .init("APP"), .init("RECEIPTS", alignment: .trailing), .init("OPEN", alignment: .trailing),
        .init("CONTEXTS", alignment: .trailing), .init("EVENTS", alignment: .trailing),
      ], emptyMessage: "Nothing is kept of this user.")
    for part in survey.parts {
      // A question about one purchase each; a count that cannot be read now is shown when it is erased.
      let events = part.purchases.reduce(0) { $0 + ((try? reader.countEvents(ofPurchase: $1.row)) ?? 0) }
      table.add([
        Table.Cell(part.app), Table.Cell(String(part.receipts.count)), Table.Cell(String(part.open.count)),
        Table.Cell(String(part.contexts.all)), Table.Cell(String(events)),
      ])
    }
    return table
  }

  private mutating func empty(_ part: UserSurvey.Part) throws {
    let writer = try session.writer(configuration)
    var rest = part.purchases.map(\.row)[...]
    while !rest.isEmpty {
      let command = ForgetPurchases(
        rows: Array(rest.prefix(ForgetPurchases.rowsMax)), cancelsOpen: session.command.flag("cancel-open"))
      done.add(try writer.apply(command, now: session.moment))
      rest = rest.dropFirst(ForgetPurchases.rowsMax)
    }
    while true {
      let count = try writer.apply(ForgetContexts(app: part.app, userID: user), now: session.moment)
      done.contexts += count
      if count < ForgetContexts.rowsMax { break }
    }
  }

  private mutating func emptyLooseEvents() throws {
    let search = UserSearch(user: user, survey)
    let writer = try session.writer(configuration)
    let last = try reader.lastRow(of: .events)
    var bar = ProgressBar(
      "looking through events", total: Int(last), on: session.output.notes, clock: session.surroundings.clock)
    defer { bar.finish() }
    var row: Int64 = 0
    while row < last {
      let next = min(row + Self.slice, last)
      let found = try reader.looseEvents(after: row, through: next)
        .filter { search.finds(in: $0.body, app: $0.app) }.map(\.row)
      if !found.isEmpty { try writer.apply(ForgetEvents(rows: found), now: session.moment) }
      done.events += found.count
      row = next
      bar.update(done: Int(row))
    }
  }

  private func writeDown(_ reason: String?) throws {
    let writer = try session.writer(configuration)
    for part in survey.parts {
      let subject = try writer.apply(NameErasure(app: part.app, userID: user), now: session.moment)
      let entry = session.auditEntry(
        app: part.app, subject: subject, reason: reason,
        details: ["receipts": .integer(Int64(done.receipts)), "contexts": .integer(Int64(done.contexts))])
      try writer.apply(WriteAudit(entry), now: session.moment)
    }
    // Out of the log, too; where receiptd is at it, its own next pass does that.
    try? writer.checkpoint()
  }

  private func report() -> ExitCode {
    let output = session.output
    if session.isJSON {
      output.json([
        "receipts": .integer(Int64(done.receipts)), "cancelled": .integer(Int64(done.cancelled)),
        "contexts": .integer(Int64(done.contexts)), "events": .integer(Int64(done.events)),
        "left_open": .array(done.open.map(JSONValue.string)),
        "deletion_requests": .array(
          done.requests.map {
            ["app": .string($0.app), "id": .optional($0.id), "error": .optional($0.fault)]
          }),
      ])
    } else {
      output.line(
        "Erased \(Counted.receipts(done.receipts)) (\(done.cancelled) cancelled), "
          + "\(Counted.of(done.contexts, "context")) and \(Counted.of(done.events, "event")).")
      for request in done.requests where request.fault == nil {
        let id = request.id.map { " as \(DisplayText.clean($0))" } ?? ""
        output.line("Purchasely took in the request of \(DisplayText.clean(request.app))\(id).")
      }
    }
    for id in done.open { output.error("\(DisplayText.clean(id)) became due meanwhile and was left alone") }
    for request in done.requests {
      if let fault = request.fault { output.error("\(DisplayText.clean(request.app)): \(fault)") }
    }
    return done.open.isEmpty && done.requests.allSatisfy { $0.fault == nil } ? .done : .partly
  }
}
