// `receipts replay`: looks, shows, asks, then takes receipts up again, a few hundred to a transaction, so
// that receiptd is never kept from writing for long.

internal import Domain
internal import JSON
internal import Relay
internal import SQLite
internal import Store
internal import Terminal

struct ReceiptReplay {
  /// Receipts in one transaction: a few milliseconds in which receiptd has to wait.
  static let slice = 200
  static let rates = 0.001...10_000.0

  private let session: Session
  private let configuration: Configuration
  private let reader: StoreReader
  private let refusals: Refusals
  private var replayed: [String] = []

  static func run(_ session: Session) throws -> ExitCode {
    let rate = try session.command.ratePerSecond("rate", in: rates)
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    let plan = try ReplayPlan(session, configuration, reader)
    let refusals = Refusals(session.output)
    for (receipt, why) in plan.refused { refusals.add(receipt.id, why) }
    if session.command.flag("dry-run") { return show(plan, refusals, session) }
    if !plan.chosen.isEmpty {
      session.output.notes.write(plan.table(session).text(terminalColumns: session.output.notes.columns))
      try session.ask("Replay \(counted(plan.chosen.count))?")
    }
    var replay = ReceiptReplay(
      session: session, configuration: configuration, reader: reader, refusals: refusals)
    return try replay.perform(plan, rate: rate)
  }

  static func counted(_ count: Int) -> String { count == 1 ? "1 receipt" : "\(count) receipts" }

  private init(session: Session, configuration: Configuration, reader: StoreReader, refusals: Refusals) {
    self.session = session
    self.configuration = configuration
    self.reader = reader
    self.refusals = refusals
  }

  private static func show(_ plan: ReplayPlan, _ refusals: Refusals, _ session: Session) -> ExitCode {
    if session.isJSON {
      session.output.json(plan.json)
    } else {
      session.output.table(plan.table(session))
      session.output.line("Would replay \(counted(plan.chosen.count)); nothing was changed.")
    }
    refusals.note()
    return .done
  }

  private mutating func perform(_ plan: ReplayPlan, rate: Double?) throws -> ExitCode {
    do {
      try apply(plan.chosen, rate: rate)
    } catch let error as SQLiteError where !replayed.isEmpty {
      // What was replayed so far is on disk and stays; the same command again does the rest.
      let fault = OperatorFault(error)
      session.output.error("\(fault.message); \(Self.counted(replayed.count)) were replayed before that")
      conclude()
      return .partly
    }
    var failed = 0
    if session.command.flag("wait"), !replayed.isEmpty {
      var follow = ReplayFollow(session, configuration, reader, ids: replayed)
      failed = try follow.run()
    }
    conclude()
    refusals.note()
    if failed > 0 { return .partly }
    if refusals.isEmpty { return .done }
    return replayed.isEmpty ? .refused : .partly
  }

  private func conclude() {
    if session.isJSON {
      session.output.json([
        "replayed": .integer(Int64(replayed.count)), "ids": .array(replayed.map(JSONValue.string)),
      ])
    } else {
      session.output.line("Replayed \(Self.counted(replayed.count)).")
    }
  }

  private mutating func apply(_ receipts: [ReceiptOutline], rate: Double?) throws {
    guard !receipts.isEmpty else { return }
    let writer = try session.writer(configuration)
    let isForced = session.command.flag("force")
    let why = try session.reason(option: "why")
    var bar = ProgressBar(
      "replaying", total: receipts.count, on: session.output.notes, clock: session.surroundings.clock)
    defer { bar.finish() }
    let start = session.moment
    var position = 0
    while position < receipts.count {
      let slice = receipts[position..<min(position + Self.slice, receipts.count)]
      let commands = slice.enumerated().map { offset, receipt in
        let delay = rate.map { Double(position + offset) * 1000 / $0 } ?? 0
        let replay = ReplayReceipt(
          id: receipt.id, force: isForced, dueAt: start.advanced(byMilliseconds: Int64(delay.rounded())))
        let entry = session.auditEntry(app: receipt.app, subject: receipt.id, reason: why)
        return Audited(replay) { $0 == .done ? entry : nil }
      }
      let outcomes = try writer.apply(CommandList(commands), now: session.moment)
      for (receipt, outcome) in zip(slice, outcomes) {
        if outcome == .done {
          replayed.append(receipt.id)
        } else {
          refusals.add(receipt.id, outcome.explanation(id: receipt.id))
        }
      }
      session.wakeDaemon(configuration)
      position += slice.count
      bar.update(done: position)
    }
  }
}

/// What a bulk verb left as it was, and why.
final class Refusals {
  /// The rest is only counted: nobody reads thousands of lines.
  static let shownMax = 20

  private let output: Output
  private var refused: [(id: String, why: String)] = []

  init(_ output: Output) { self.output = output }

  var isEmpty: Bool { refused.isEmpty }

  func add(_ id: String, _ why: String) { refused.append((id, why)) }

  /// Says what was refused, on stderr.
  func note() {
    for (id, why) in refused.prefix(Self.shownMax) { output.error("\(DisplayText.clean(id)) \(why)") }
    if refused.count > Self.shownMax {
      output.error("\(refused.count - Self.shownMax) more were left as they are")
    }
  }
}

extension OperatorResult {
  /// Why a receipt was left as it is, as the end of a sentence that begins with its id.
  func explanation(id: String) -> String {
    let id = DisplayText.clean(id)
    switch self {
    case .done: return "is done"
    case .notFound: return "is not there any more"
    case .delivered: return "is delivered already; --force sends it again"
    case .lacks(.user): return "lacks its user: receiptctl receipts complete \(id) --user USER"
    case .lacks(.price): return "lacks its price: receiptctl receipts complete \(id) --price PRICE"
    case .lacks(.subscription):
      return "is about a subscription that has no id yet; it comes with the payment"
    case .lacks(let reason): return "lacks its \(reason.text)"
    case .erased: return "was erased with its user; there is nothing left to send"
    case .notAllowed(.delivered): return "is delivered already"
    case .notAllowed(.pending): return "is on its way already; cancel it first to change it"
    case .notAllowed(let state): return "cannot be changed while it is \(state.rawValue)"
    case .contextNotUsable:
      return "cannot have that context: it is none of this app and user, or serves another purchase; see "
        + "receiptctl contexts list"
    }
  }
}
