// `users forget`: erases a user in short transactions. It can be interrupted at any point and run again. It
// searches the events without a purchase first, because the rows that it erases later provide the ids.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Store
internal import Terminal

struct UserForget {
  /// The most passes over data that arrived meanwhile.
  static let roundsMax = 100

  /// What was erased.
  private struct Done {
    var receipts = 0
    var others = 0
    var cancelled = 0
    var contexts = 0
    var events = 0
    var payers = 0
    var names = 0
    var open: [ReceiptID] = []
    var capturing: [PurchaseRowID] = []
    var held: [PurchaseRowID] = []
    var requests: [(app: AppSlug, id: String?, fault: String?)] = []

    mutating func add(_ outcome: ForgetPurchases.Outcome) {
      receipts += outcome.receipts
      others += outcome.others
      cancelled += outcome.cancelled
      events += outcome.events
      open += outcome.open
      capturing += outcome.capturing
      held += outcome.held
    }

    mutating func add(_ count: Int, of table: ForgetUserRows.Table) {
      switch table {
      case .contexts: contexts += count
      case .payers: payers += count
      case .names: names += count
      case .claims, .customers: break
      }
    }
  }

  private let session: Session
  private let subject: ErasureSubject
  /// `--app`; nil means all.
  private let app: AppSlug?
  private let configuration: Configuration
  private let reader: StoreReader
  private var search: UserSearch
  private var survey: UserSurvey { search.survey }
  private var done = Done()
  /// The apps in which something was erased.
  private var erased: [AppSlug] = []

  static func run(_ session: Session) throws -> ExitCode {
    let subject = try UsersCommands.subject(session)
    let configuration = try session.wholeConfiguration()
    let reader = try session.reader(configuration)
    let app = try session.app(configuration)
    var forget = UserForget(
      session: session, subject: subject, app: app, configuration: configuration, reader: reader,
      search: try UserSearch(subject, app: app, reader))
    return try forget.perform()
  }

  private init(
    session: Session, subject: ErasureSubject, app: AppSlug?, configuration: Configuration,
    reader: StoreReader, search: UserSearch
  ) {
    self.session = session
    self.subject = subject
    self.app = app
    self.configuration = configuration
    self.reader = reader
    self.search = search
  }

  private mutating func perform() throws -> ExitCode {
    let deletions = try UserDeletions(session, configuration, apps: apps)
    let reason = try session.why()
    try search.update(session, reader)
    let (name, loose) = (DisplayText.clean(subject.text), search.loose)
    guard !survey.parts.isEmpty || !loose.isEmpty || session.command.flag("ask-purchasely") else {
      reportUnreadable()
      throw OperatorFault(.notFound, "nothing is known of \(name); nothing was changed")
    }
    if let user = search.user, user.text != subject.text {
      session.output.note("\(name) is the user \(DisplayText.clean(user.text)), who is erased.")
    }
    session.output.note(plan())
    for line in besides { session.output.note(line) }
    if !loose.isEmpty {
      session.output.note("\(Counted.of(loose.count, "event")) beside that name the user or one of these.")
    }
    if session.command.flag("dry-run") {
      if let open { session.output.note("\(open).") }
      reportUnreadable()
      if session.isJSON { session.output.json(planJSON()) }
      reportCopies()
      session.output.note("Nothing was changed.")
      return .done
    }
    if let open { throw OperatorFault(.refused, "\(open); nothing was changed") }
    try session.ask("Erase \(name)? This cannot be undone.")
    try eraseAll()
    try writeDown(reason)
    done.requests = search.user.map { deletions.ask(toForget: $0, session) } ?? []
    return report()
  }

  /// Why nothing is erased without `--cancel-open`, which is not given.
  private var open: String? {
    let open = survey.parts.flatMap(\.open).compactMap(\.receiptID)
    guard !open.isEmpty, !session.command.flag("cancel-open") else { return nil }
    let shown = open.prefix(3).map { DisplayText.clean($0.text) }.joined(separator: ", ")
    return "\(Counted.receipts(open.count)) of this user \(open.count == 1 ? "is" : "are") still to be "
      + "delivered (\(shown)), so nothing is erased; wait for that, or give --cancel-open: then these "
      + "purchases are not reported"
  }

  /// Repeats until nothing is left: more data may arrive during the confirmation, or exceed one pass.
  private mutating func eraseAll() throws {
    erased = survey.parts.map(\.app)
    for _ in 0..<Self.roundsMax {
      // First the events that only their content identifies: the rows that are erased next provide the ids.
      try search.update(session, reader)
      try rememberNames()
      try emptyLooseEvents()
      (done.open, done.capturing, done.held) = ([], [], [])
      let before = done.receipts + done.others
      for part in survey.parts { try empty(part) }
      try search.survey(reader)
      erased += survey.parts.map(\.app).filter { !erased.contains($0) }
      let isDone = survey.parts.allSatisfy { part in
        part.contexts == 0 && part.payers.isEmpty && part.named.isEmpty && part.learned.isEmpty
          && part.erasable.allSatisfy {
            done.open.contains($0.receiptID ?? "") || (done.capturing + done.held).contains($0.row)
          }
      }
      // What was held may lead to nothing more now.
      let isStill = done.held.isEmpty || done.receipts + done.others == before
      if isDone, isStill, search.isComplete { return }
    }
    throw OperatorFault(
      .tryAgain, "data of this user keeps arriving; the data found so far is erased; run the command again")
  }

  /// The apps that may know the user.
  private var apps: [AppSlug] {
    if let app { return [app] }
    let known = survey.parts.map(\.app)
    return known.isEmpty ? configuration.apps.map(\.slug) : known
  }

  private func planJSON() -> JSONValue {
    let apps = survey.parts.map { part -> JSONValue in
      [
        "app": .string(part.app.text), "receipts": .integer(Int64(receipts(part).count)),
        "sent_for_others": .integer(Int64(sentForOthers(part).count)),
        "purchases_without_receipt": .integer(Int64(part.erasable.count - receipts(part).count)),
        "open": .integer(Int64(part.open.count)), "contexts": .integer(part.contexts),
        "events": .integer(countEvents(part)),
        "payers": .integer(Int64(part.payers.count)),
      ]
    }
    return ["would_forget": .array(apps), "events_beside": .integer(Int64(search.loose.count))]
  }

  private func plan() -> Table {
    var table = Table(
      [
        .init("APP"), .init("RECEIPTS", alignment: .trailing), .init("OPEN", alignment: .trailing),
        .init("CONTEXTS", alignment: .trailing), .init("EVENTS", alignment: .trailing),
      ], emptyMessage: "No data of this user is stored.")
    for part in survey.parts {
      table.add([
        Table.Cell(part.app.text), Table.Cell(count: receipts(part).count),
        Table.Cell(count: part.open.count), Table.Cell(count: part.contexts),
        Table.Cell(count: countEvents(part)),
      ])
    }
    return table
  }

  private func receipts(_ part: UserSurvey.Part) -> [UserPurchase] {
    part.erasable.filter { $0.receiptID != nil }
  }

  /// Receipts of the user's purchases with another user's name, which operators corrected.
  private func sentForOthers(_ part: UserSurvey.Part) -> [UserPurchase] {
    part.behind.filter { $0.userID != nil && $0.userID != search.user }
  }

  /// One query per purchase; a failed count is left out, and the report after the erasure has it.
  private func countEvents(_ part: UserSurvey.Part) -> Int64 {
    part.erasable.reduce(0) { $0 + ((try? reader.countEvents(ofPurchase: $1.row)) ?? 0) }
  }

  /// What the table counts that is not listed under the user's name, or does not count.
  private var besides: [String] {
    let sent = Dictionary(grouping: survey.parts.flatMap(sentForOthers)) { $0.userID?.text ?? "" }
    var lines = sent.sorted(by: { $0.key < $1.key }).map { user, rows in
      "Of these, \(Counted.receipts(rows.count)) \(rows.count == 1 ? "was" : "were") sent for "
        + "\(DisplayText.clean(user)) and corrected."
    }
    let others = survey.parts.reduce(0) { $0 + $1.erasable.count - receipts($1).count }
    if others > 0 { lines.append("Also \(Counted.of(others, "purchase")) without a receipt.") }
    let shared = survey.parts.flatMap(\.shared)
    if !shared.isEmpty {
      let customers = Set(shared.compactMap { $0.customerID?.text }).sorted().prefix(3)
      lines.append(
        "Not \(Counted.of(shared.count, "purchase")) without a user: the customer "
          + "(\(customers.map { DisplayText.clean($0) }.joined(separator: ", "))) has other users, too.")
    }
    return lines
  }

  private mutating func empty(_ part: UserSurvey.Part) throws {
    let writer = try session.writer(configuration)
    var rest = part.erasable.map(\.row)[...]
    let leads = Dictionary(part.erasable.map { ($0.row, $0.leads) }) { $0 + $1 }
    while !rest.isEmpty {
      let command = ForgetPurchases(
        rows: Array(rest.prefix(ForgetPurchases.rowsMax)), cancelsOpen: session.command.flag("cancel-open"),
        leads: leads)
      done.add(try writer.apply(command, now: session.moment))
      rest = rest.dropFirst(ForgetPurchases.rowsMax)
    }
    guard let user = search.user else { return }
    for table in ForgetUserRows.Table.allCases {
      var count = 0
      repeat {
        count = try writer.apply(ForgetUserRows(table, app: part.app, userID: user), now: session.moment)
        done.add(count, of: table)
      } while count == ForgetUserRows.rowsMax
    }
  }

  /// Before the rows from which the identifiers follow are emptied.
  private mutating func rememberNames() throws {
    let writer = try session.writer(configuration)
    for (app, names) in search.names.sorted(by: { $0.key < $1.key }) {
      try writer.apply(ForgetIdentifiers(names, app: app), now: session.moment)
      if !erased.contains(app) { erased.append(app) }
    }
  }

  private mutating func emptyLooseEvents() throws {
    let writer = try session.writer(configuration)
    while !search.loose.isEmpty {
      let slice = Array(search.loose.prefix(ForgetEvents.rowsMax))
      try writer.apply(ForgetEvents(rows: slice), now: session.moment)
      search.loose.removeFirst(slice.count)
      done.events += slice.count
    }
  }

  private func writeDown(_ reason: String?) throws {
    let writer = try session.writer(configuration)
    for app in erased.isEmpty ? apps : erased {
      let subject = try writer.apply(
        NameErasure(app: app, userID: search.user ?? UserID(subject.text)), now: session.moment)
      let entry = session.auditEntry(
        app: app, subject: subject, reason: reason,
        details: ["receipts": .integer(Int64(done.receipts)), "contexts": .integer(Int64(done.contexts))])
      try writer.apply(WriteAudit(entry), now: session.moment)
    }
    // Erases the data from the log, too; if receiptd is doing so, its next pass covers it.
    try? writer.finish()
  }

  private func report() -> ExitCode {
    let output = session.output
    if session.isJSON {
      output.json([
        "receipts": .integer(Int64(done.receipts)), "cancelled": .integer(Int64(done.cancelled)),
        "purchases_without_receipt": .integer(Int64(done.others)),
        "contexts": .integer(Int64(done.contexts)), "events": .integer(Int64(done.events)),
        "payers": .integer(Int64(done.payers)),
        "unreadable_events": .integer(Int64(search.unreadable.count)),
        "copies": .array(copies.map { .string($0) }),
        "left_open": .array(done.open.map { .string($0.text) }),
        "left_capturing": .integer(Int64(done.capturing.count)),
        "left_held": .integer(Int64(done.held.count)),
        "deletion_requests": .array(
          done.requests.map {
            ["app": .string($0.app.text), "id": .optional($0.id), "error": .optional($0.fault)]
          }),
      ])
    } else {
      let others = done.others > 0 ? "\(Counted.of(done.others, "purchase")) without a receipt, " : ""
      output.line(
        "Erased \(Counted.receipts(done.receipts)) (\(CountText.grouped(done.cancelled)) cancelled), "
          + "\(others)\(Counted.of(done.contexts, "context")) and \(Counted.of(done.events, "event")).")
      if done.payers > 0 {
        output.line(
          "The ids of \(Counted.of(done.payers, "payer")) are kept as hashes: the stored cards are still at "
            + "the processor, and no other user may get them.")
      }
      for request in done.requests where request.fault == nil {
        let id = request.id.map { " as \(DisplayText.clean($0))" } ?? ""
        output.line("Purchasely accepted the request for \(DisplayText.clean(request.app.text))\(id).")
      }
    }
    for id in done.open {
      output.error("\(DisplayText.clean(id.text)) became due meanwhile and was left unchanged")
    }
    if !done.capturing.isEmpty {
      // An address or a customer may lead to nothing any more.
      let again = search.user.map { "receiptctl users forget \(ShellWord.quoted($0.text))" } ?? "the command"
      output.error(
        "\(Counted.of(done.capturing.count, "payment")) of this user left unchanged, because a capture is "
          + "under way; run \(again) again when it has ended")
    }
    if !done.held.isEmpty {
      output.error(
        "\(Counted.of(done.held.count, "purchase")) left unchanged, because what is left is found by "
          + "\(done.held.count == 1 ? "it" : "them")")
    }
    for request in done.requests {
      if let fault = request.fault { output.error("\(DisplayText.clean(request.app.text)): \(fault)") }
    }
    reportUnreadable()
    reportCopies()
    let isAll = done.open.isEmpty && done.capturing.isEmpty && done.held.isEmpty && search.unreadable.isEmpty
    return isAll && done.requests.allSatisfy { $0.fault == nil } ? .done : .partly
  }

  /// Names events that may be about the user: only their bodies say so.
  private func reportUnreadable() {
    let groups = Dictionary(grouping: search.unreadable, by: \.reason)
    for (reason, events) in groups.sorted(by: { $0.key < $1.key }) {
      var names = events.prefix(3).map { DisplayText.clean($0.id.text) }.joined(separator: ", ")
      if events.count > 3 { names += ", …" }
      session.output.error(
        "\(Counted.of(events.count, "event")) without a purchase (\(names)) "
          + "cannot be read and may be about this user: \(reason)")
    }
  }

  /// What restores and new databases have set aside beside the database.
  private var copies: [String] {
    guard let path = configuration.database.filePath else { return [] }
    return DatabaseAccess.setAside(path)
  }

  private func reportCopies() {
    guard !copies.isEmpty else { return }
    session.output.error(
      "earlier databases beside this one still have the data, as backups do; delete them when you do not "
        + "need them any more: " + copies.map { ShellWord.quoted($0) }.joined(separator: " "))
  }
}
