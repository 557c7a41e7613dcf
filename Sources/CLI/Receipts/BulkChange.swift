// `receipts replay`, `cancel`, `complete` and `correct` for several receipts: select, show, ask, then change.
// A few given ids are changed at once; anything else becomes a job, which outlives this program.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Store
internal import Terminal

struct BulkChange {
  static let rates = JobRequest.rates
  /// Up to this many ids are changed at once, in one transaction; more become a job.
  static let directMax = 100

  let session: Session
  let configuration: Configuration
  let reader: StoreReader
  let plan: BulkPlan
  let refusals: Refusals
  let rate: Double?
  let why: String?

  init(_ kind: JobKind, _ session: Session, why: String?, rate: Double? = nil) throws {
    self.session = session
    self.why = why
    self.rate = rate
    configuration = try session.wholeConfiguration()
    reader = try session.reader(configuration)
    plan = try BulkPlan(kind, session, configuration, reader)
    refusals = Refusals(session.output)
    plan.addRefusals(to: refusals)
  }

  private var kind: JobKind { plan.kind }

  /// - Parameter askingFrom: the number of receipts from which confirmation is needed.
  func run(askingFrom least: Int) throws -> ExitCode {
    if session.command.flag("dry-run") { return show() }
    guard plan.count > 0 else { return try conclude(ids: []) }
    if plan.count >= least {
      session.output.note(plan.table(session))
      // Before the question, because the operator must know it to confirm.
      refusals.note()
      for line in warnings { session.output.note(line) }
      let pace = rate.map { ", \(plan.estimate(plan.count, perSecond: $0))" } ?? ""
      try session.ask("\(kind.verb) \(Counted.receipts(plan.count))\(pace)?")
    }
    let isShort = plan.receipts.count == plan.count && plan.count <= Self.directMax
    if isShort, rate == nil, !session.command.flag("wait") { return try changeDirectly() }
    return try BulkJob(self).run()
  }

  private func show() -> ExitCode {
    if session.isJSON {
      session.output.json(plan.json(rate: rate))
    } else {
      session.output.table(plan.table(session))
      let pace = rate.map { ", \(plan.estimate(plan.count, perSecond: $0))" } ?? ""
      session.output.line(
        "Would \(kind.rawValue) \(Counted.receipts(plan.count))\(pace); nothing was changed.")
    }
    refusals.note()
    for line in warnings { session.output.note(line) }
    return .done
  }

  /// What the destinations do with corrections, and what a replay of refused receipts does not do.
  private var warnings: [String] {
    if kind == .replay {
      let isRefused = plan.groups.contains { $0.state == .failed && $0.reason?.isRefusal == true }
      return isRefused
        ? [
          "A replay sends the same content again. If the configuration was wrong, correct it, run receiptctl "
            + "reload, and make them again: the same command with complete and --price PRICE."
        ] : []
    }
    guard kind == .correct else { return [] }
    let apps = Set(plan.groups.map(\.app)).sorted()
    return apps.flatMap { configuration.app($0)?.destinationCorrections ?? [] }.unique
  }

  /// `--price`.
  var price: PriceID? { session.command.options["price"].map(PriceID.init) }

  /// `--user` of a correction.
  var user: UserID? { kind == .correct ? ReceiptComplete.user(session) : nil }

  /// The change of one receipt.
  private func change(_ id: ReceiptID) -> ReceiptChange {
    switch kind {
    case .replay:
      .replay(ReplayReceipt(id: id, force: session.command.flag("force"), dueAt: session.moment))
    case .cancel: .cancel(CancelReceipt(id: id, note: why ?? ""))
    case .complete:
      .complete(CompleteReceipt(id: id, userID: nil, priceID: price, contextID: nil))
    case .correct: .correct(CorrectReceipt(id: id, userID: user, priceID: price, contextID: nil))
    }
  }

  private func changeDirectly() throws -> ExitCode {
    let commands = plan.receipts.map { receipt in
      let details = kind == .correct ? CompletionText.details(user: user, price: price) : [:]
      let entry = session.auditEntry(
        app: receipt.app, subject: receipt.id.text, reason: why, details: details)
      return Audited(change(receipt.id)) { $0 == .done ? entry : nil }
    }
    let outcomes = try session.writer(configuration).apply(CommandList(commands), now: session.moment)
    session.wakeDaemon(configuration)
    var changed: [ReceiptID] = []
    for (receipt, outcome) in zip(plan.receipts, outcomes) {
      if outcome == .done {
        // The receipt that counts now.
        changed.append(try reader.receipt(id: receipt.id)?.receipt?.correctedBy ?? receipt.id)
      } else {
        refusals.add(receipt.id.text, outcome.explanation(id: receipt.id.text))
      }
    }
    return try conclude(ids: changed)
  }

  /// A replayed receipt is not sent yet, unless the command waited.
  private func done(_ count: Int) throws(StoreFault) -> String {
    guard kind == .replay, count > 0, !session.command.flag("wait") else {
      return "\(kind.past) \(Counted.receipts(count))."
    }
    let isServed = try session.isServed(configuration, reader)
    let (pronoun, verb) = count == 1 ? ("it", "is") : ("them", "are")
    let obstacles =
      try isServed
      ? Stoppage.all(of: Set(plan.receipts.map(\.app)), reader, configuration, now: session.now) : []
    let next =
      isServed
      ? obstacles.isEmpty ? "receiptd sends \(pronoun) now" : "but \(count == 1 ? "it waits" : "they wait")"
      : "no receiptd serves this database, so \(count == 1 ? "it" : "they") \(verb) sent once one does"
    return
      (["\(Counted.receipts(count)) \(verb) pending again; \(next)."]
      + obstacles.map(\.text)).joined(separator: "\n")
  }

  /// Reports what was done.
  /// - Parameter paced: the job that continues with the rest.
  func conclude(ids: [ReceiptID], paced: Job? = nil) throws(StoreFault) -> ExitCode {
    let output = session.output
    if session.isJSON {
      output.json([
        (kind.past.lowercased(), .integer(Int64(ids.count))), ("ids", .array(ids.map { .string($0.text) })),
      ])
    } else if let paced {
      let planned = paced.count(.planned)
      let how =
        rate.map { plan.estimate(planned, perSecond: $0) }
        ?? "\(Counted.receipts(planned)) to come as deliveries allow"
      output.line("Job \(paced.id) \(kind.rawValue)s \(Counted.receipts(ids.count)), \(how).")
    } else {
      output.line(try done(ids.count))
    }
    refusals.note()
    if refusals.isEmpty { return .done }
    return ids.isEmpty ? .refused : .partly
  }
}

extension [String] {
  /// The texts without repeats, in their order.
  fileprivate var unique: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}

extension Output {
  fileprivate func json(_ members: [(String, JSONValue)]) {
    json(.object(members.map { JSONValue.Member(name: $0.0, value: $0.1) }))
  }
}
