// A real store of the engine under test, in its own directory, with a clock that changes only when a test
// advances it.

import Domain
import FoundationEssentials
import Platform
import Store
import TestSupport
import Testing

let second: Int64 = 1000
let minute = 60 * second
let hour = 60 * minute
let day = 24 * hour

/// Creates a directory in the system's temporary directory.
func makeDirectory() throws -> URL {
  let directory = FileManager.default.temporaryDirectory.appending(path: "store-tests-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
  return directory
}

final class TestStore {
  static let start = Timestamp(unixMilliseconds: 1_800_000_000_000)

  /// Two apps that deliver without a context, and one that holds. None waits for events to settle, so an
  /// event takes effect at once.
  static let rules = rules(settle: .zero)

  static func rules(settle: Duration) -> [AppSlug: AppRules] {
    let deliver = JoinPolicy(settle: settle, settleCustomer: settle)
    let hold = JoinPolicy(settle: settle, settleCustomer: settle, withoutContext: .hold)
    return [
      "ios": AppRules(join: deliver, processors: .several, compose: compose),
      "web": AppRules(join: deliver, processors: .stripe, compose: compose),
      "held": AppRules(join: hold, processors: .stripe, compose: compose),
    ]
  }

  private let directory: URL
  private let rules: [AppSlug: AppRules]
  var folder: String { directory.path }
  let engine: any StoreEngine
  private let testEngine: TestEngine
  /// Records the undeclared reads of commands; nil if they are not checked.
  let record: ReadRecord?
  private(set) var writer: StoreWriter
  private(set) var reader: StoreReader
  var now = TestStore.start
  private var random: SeededGenerator
  private var eventCount = 0
  private var commandCount = 0

  /// - Parameter record: records the undeclared reads of commands.
  init(
    seed: UInt64 = 1, rules: [AppSlug: AppRules] = TestStore.rules, record: ReadRecord? = nil
  ) throws {
    directory = try makeDirectory()
    self.rules = rules
    self.record = record
    random = SeededGenerator(seed: seed)
    testEngine = TestEngine.current
    engine = testEngine.open(directory.path)
    writer = try engine.openWriter(rules: rules, random: SeededGenerator(seed: ~seed))
    reader = try engine.openReader()
    if record != nil { try reopen() }
  }

  deinit {
    // If this fails, the files stay in the system's temporary directory.
    try? FileManager.default.removeItem(at: directory)
    testEngine.remove(folder)
  }

  /// A readable body, as a destination would receive it.
  static func compose(_ content: ReceiptContent) -> [UInt8] {
    let words = [
      content.userID.text, content.key.type.text, content.key.id.text, content.priceID?.text ?? "-",
      content.context ?? "-",
    ]
    return Array(words.joined(separator: " ").utf8)
  }

  /// Opens the store again as after a restart: only the file keeps its state (R9).
  func reopen() throws {
    let random = SeededGenerator(seed: random.next())
    if let record {
      let connection = RecordingConnection(try TestEngine.current.connect(folder), record)
      writer = try StoreWriter(StoreConnection(connection), rules: rules, random: random, upkeep: NoUpkeep())
    } else {
      writer = try engine.openWriter(rules: rules, random: random)
    }
    reader = try engine.openReader()
  }

  func advance(_ milliseconds: Int64) { now = now + .milliseconds(milliseconds) }

  /// Decides everything of the app `ios` again, as after a reload.
  func reload(_ rules: [AppSlug: AppRules]) throws {
    writer.use(rules: rules)
    advance(minute)
    var place: ReconsiderReceipts.Place?
    repeat {
      place = try apply(ReconsiderReceipts(app: "ios", startedAt: now, after: place))
    } while place != nil
  }

  func after(_ milliseconds: Int64) -> Timestamp { now + .milliseconds(milliseconds) }

  @discardableResult
  func apply<Command: StoreCommand>(_ command: Command) throws -> Command.Outcome {
    let outcome = try commit(command)
    commandCount += 1
    // The check reads everything, so it does not run after each command on large databases.
    let every = commandCount <= 50 ? TestEngine.current.commandsBetweenChecks : 50
    if commandCount % every == 0 { try checkInvariants() }
    return outcome
  }

  /// Applies a command that declares reads as a batch of one; otherwise directly.
  private func commit<Command: StoreCommand>(_ command: Command) throws -> Command.Outcome {
    guard !command.reads.isEmpty else { return try writer.apply(command, now: now) }
    let answer = Monitor<Result<Command.Outcome, StoreFault>?>(nil)
    let submission = Submission(command) { result in answer.withLock { $0 = result } }
    let result = writer.apply([submission], now: now)
    if let fault = result.fault { throw fault }
    return try #require(answer.withLock { $0 }).get()
  }

  /// Ends an attempt to deliver a receipt with a 503: it was sent, and may have arrived.
  func send(_ id: ReceiptID) throws {
    let report = AttemptReport(at: now, status: 503, duration: .zero)
    let again = Delivery.Decision.retry(at: now.advanced(by: .seconds(2)), spent: true)
    _ = try apply(RecordAttempt(of: id, app: "ios", report: report, decision: again))
  }

  func checkInvariants() throws {
    let found = try reader.contradictions()
    if !found.isEmpty { Issue.record("\(TestEngine.current.name): \(found.joined(separator: "; "))") }
  }

  /// Posts a context as the app.
  @discardableResult
  func post(_ text: String = "blob", user: UserID = "u1", price: PriceID? = nil, app: AppSlug = "ios") throws
    -> ContextID
  {
    try #require(try apply(contextCommand(text, user: user, price: price, app: app)).stored).id
  }

  /// - Parameter id: the one that the client made; nil for the relay's own.
  func contextCommand(
    _ text: String, user: UserID, price: PriceID? = nil, app: AppSlug = "ios", id: ContextID? = nil
  ) -> IngestContext {
    IngestContext(
      app: app, userID: user, blob: ContextBlob(text: text, priceID: price), id: id ?? makeContextID(),
      isChosen: id != nil)
  }

  /// A new id, as a client or the relay makes it.
  func makeContextID() -> ContextID { ContextID.make(now: now, random: &random) }

  /// Ingests an event.
  @discardableResult
  func ingest(
    _ report: PurchaseReport, app: AppSlug = "ios", id: EventID? = nil, keep: Bool = true,
    type: String = "test"
  ) throws -> IngestEvent.Outcome {
    eventCount += 1
    return try apply(
      IngestEvent(
        app: app, processor: report.key.processor, eventID: id ?? "evt_\(eventCount)", type: type,
        body: Array("{}".utf8),
        content: .report(report, keep: keep)))
  }

  /// All receipts, in the order in which their purchases were first reported.
  func receipts(app: AppSlug? = nil) throws -> [PurchaseRecord] {
    var filter = ReceiptFilter()
    filter.app = app
    return try reader.receipts(filter, limit: 10_000).sorted { $0.rowID < $1.rowID }
  }

  /// The receipt of the purchase that was reported at this place in the order.
  func receipt(_ index: Int) throws -> Receipt { try #require(try receipts()[index].receipt) }

  /// The only receipt.
  func only(app: AppSlug? = nil) throws -> PurchaseRecord {
    let receipts = try receipts(app: app)
    try #require(receipts.count == 1, "there are \(receipts.count) receipts")
    return try #require(receipts.first)
  }

  /// What names the purchase in a row; nothing that any purchase has if there is none.
  func reference(_ row: PurchaseRowID) throws -> PurchaseReference {
    let key = try reader.connection.prepare(
      "SELECT processor, object_type, object_id FROM purchases WHERE row_id = ?1"
    ).first([.integer(row.number)]) { row throws(StoreFault) in
      PurchaseKey(
        processor: ProcessorName(try row.text(0)), type: .init(try row.text(1)), id: ObjectID(try row.text(2))
      )
    }
    return PurchaseReference(row: row, key: key ?? PurchaseKey(processor: "none", type: "", id: ""))
  }

  /// State and reason of the only receipt, and its body.
  func status(app: AppSlug? = nil) throws -> String { Self.status(try only(app: app)) }

  static func status(_ record: PurchaseRecord) -> String {
    guard let receipt = record.receipt else { return "none" }
    let body = receipt.body.map { ": " + String(decoding: $0, as: UTF8.self) } ?? ""
    return receipt.state.rawValue + (receipt.reason.map { "/\($0)" } ?? "") + body
  }

  func context(_ id: ContextID) throws -> ContextSummary {
    try #require(try reader.context(id: id, now: now))
  }

  /// Decides about all receipts whose wait has ended.
  @discardableResult
  func endWaits() throws -> Timestamp? { try apply(EndWaits()) }

  /// An integer read directly from the database.
  func integer(_ sql: String) throws -> Int64? { try reader.connection.integer(sql) }

  /// Changes the database without the writer.
  func execute(_ sql: String) throws { try TestEngine.current.connect(folder).run(sql) }
}

/// The results passed to completions, in order.
final class Answers: Sendable {
  private let told = Monitor<[String]>([])

  var all: [String] { told.withLock(\.self) }

  func submission<Command: StoreCommand>(_ name: String, _ command: Command) -> Submission {
    Submission(command) { [self] result in
      told.withLock { told in
        switch result {
        case .success: told.append("\(name): stored")
        case .failure(let error): told.append("\(name): \(error.kind.rawValue)")
        }
      }
    }
  }
}

/// The upkeep of a writer that needs none.
final class NoUpkeep: StoreUpkeep {
  func beforeCommit() throws(StoreFault) {}
  func afterBatch() throws(StoreFault) {}
  func freeSpace() throws(StoreFault) {}
  func finish() throws(StoreFault) {}
}
