// A configuration, a real database filled through the store's commands, and receiptctl in this process.

import Domain
import Formats
import FoundationEssentials
import HTTPServer
import Platform
import SQLiteStore
import Store
import Terminal
import TestSupport
import Testing

@testable import CLI
@testable import PostgresStore

/// The result of one command.
struct Ran {
  var code: ExitCode
  /// stdout
  var out: String
  /// stderr
  var notes: String

  /// The last line of stdout.
  var last: Substring? { out.split(separator: "\n").last }

  /// The id of the job that it reports.
  var job: String? { notes.firstMatch(of: /job_[0-9A-Z]{26}/).map { String($0.output) } }

  /// stdout as one JSON value per line.
  var objects: [JSONValue] {
    get throws {
      try out.split(separator: "\n").map { line throws in try JSONValue(parsing: Array(line.utf8)) }
    }
  }
}

/// Collects the output of a stream.
final class Record: Sendable {
  private let bytes = Monitor<[UInt8]>([])
  var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }
  func add(_ more: [UInt8]) { bytes.withLock { $0 += more } }
}

final class ManualClock: Clock {
  /// 2026-11-20T10:00:00Z
  static let start: Int64 = 1_795_168_800_000

  private let milliseconds = Monitor<Int64>(start)
  var wallMilliseconds: Int64 { milliseconds.withLock { $0 } }
  var monotonic: MonotonicInstant { MonotonicInstant(nanoseconds: wallMilliseconds * 1_000_000) }
  var now: Timestamp { Timestamp(unixMilliseconds: wallMilliseconds) }
  func advance(_ duration: Duration) { milliseconds.withLock { $0 += duration.milliseconds } }
}

/// Serves one answer for each path, such as a file or a redirect.
final class Host: RequestHandler {
  let answers = Monitor<[String: Response]>([:])

  func admit(_ head: RequestHead) -> Admission {
    .answer(answers.withLock { $0[head.path] } ?? Response(status: 404))
  }
  func handle(_ request: Request, _ responder: Responder) {}
  func response(to rejection: Rejection, head: RequestHead?) -> Response { Response(status: 500) }
}

/// One thread.
final class OperatorHarness {
  private let directory: TestFolder
  var folder: String { directory.path }
  let clock = ManualClock()
  let writer: StoreWriter
  /// The receiptd that seems to serve the database; nil for none.
  var daemon: LockHolder?
  /// What receiptd answers at /readyz; nil if it cannot be asked.
  var readiness: ReadyCommand.Answer?
  /// What the system says about its clock.
  var clockDiscipline: ClockDiscipline? = ClockDiscipline(isSynchronised: true, errorMax: .milliseconds(2))
  var configurationPath: String { folder + "/receiptd.json5" }
  var databasePath: String { folder + "/receiptd.db" }
  /// The URL of a PostgreSQL database; nil for a file.
  let server: String?
  private let engine: any StoreEngine
  private var eventNumber = 0

  /// - Parameters:
  ///   - swedbank: whether the apps have Swedbank Pay, too.
  ///   - server: the URL of a PostgreSQL database; nil for the place of the running test.
  init(apps: [AppSlug] = ["ios"], swedbank: Bool = false, server: String? = nil) throws {
    directory = try TestFolder()
    let folder = directory.path
    let texts = apps.map { slug in
      """
      '\(slug)': { \(swedbank ? Self.swedbank : "client: 'open'"),
        stripe: { webhook_secrets: ['env:WEBHOOK_SECRET'], reference: 'user' },
        purchasely: { api_key: 'env:API_KEY' }, join: { wait_for_context: '0s' } },
      """
    }
    let placed = server == nil ? try DatabasePlace.makeURL() : nil
    let server = server ?? placed
    self.server = server
    let database = server ?? "receiptd.db"
    let unsafe = placed == nil ? "" : " database_durability: 'unsafe',"
    let text = "{ database: '\(database)',\(unsafe) listen: { port: 1 }, apps: { \(texts.joined()) } }"
    _ = FileManager.default.createFile(atPath: folder + "/receiptd.json5", contents: Data(text.utf8))
    // Nothing gets the purchases of `gone`.
    let rules = AppRules(
      join: JoinPolicy(waitForContext: .zero),
      processors: [ProcessorName: ProcessorRules].stripe.merging(swedbank ? Self.swedbankRules : [:]) { $1 },
      destinations: ["purchasely", "webhook"],
      destination: { $0 == "gone" ? nil : $0 == "swedbank" ? "webhook" : "purchasely" },
      compose: { content, _ in Array("\(content.userID) \(content.priceID?.text ?? "-")".utf8) },
      composeReversal: { content, _ in Array("\(content.userID) reversed".utf8) })
    // Receipts have the same ids in each run.
    let random = SeededGenerator(seed: 1)
    let allRules = Dictionary(uniqueKeysWithValues: apps.map { ($0, rules) })
    guard let server else {
      engine = SQLiteEngine(guest: folder + "/receiptd.db")
      writer = try StoreWriter(path: folder + "/receiptd.db", role: .owner, rules: allRules, random: random)
      return
    }
    // The times of receiptd's changes are the test's.
    engine = try PostgresEngine(
      server, isOwner: true, application: "tests", allowsUnsafe: true, usesServerClock: placed == nil)
    writer = try engine.openWriter(rules: allRules, random: random)
  }

  private static let swedbank = """
    client: { keys: ['env:CLIENT_KEY'] },
    swedbank: { merchant_token: 'env:TOKEN', payee_id: 'payee', public_origin: 'https://pay.example.com',
      amounts: 'client' },
    webhook: { url: 'https://backend.example.com/purchases', secrets: ['env:WEBHOOK_KEY'] }
    """
  private static let swedbankRules: [ProcessorName: ProcessorRules] = [
    "swedbank": ProcessorRules(isAsked: true, namesPrices: false, followsUpAfter: .seconds(900))
  ]

  /// Changes the text of the configuration.
  func configure(_ change: (String) -> String) throws {
    let data = try #require(FileManager.default.contents(atPath: configurationPath))
    let text = change(String(decoding: data, as: UTF8.self))
    try #require(FileManager.default.createFile(atPath: configurationPath, contents: Data(text.utf8)))
  }

  func reader() throws -> StoreReader { try engine.openReader() }

  /// Runs receiptctl with the configuration.
  /// - Parameters:
  ///   - answer: the answer to a question; without it, there is no terminal.
  ///   - input: the content of standard input.
  ///   - pause: called at each wait; without it, the first wait for a stop signal ends the command.
  @discardableResult func run(
    _ arguments: String..., answer: String? = nil, environment: [String: String] = [:],
    input: String = "", pause: (@Sendable (Duration) -> Void)? = nil
  ) -> Ran {
    run(arguments: arguments, answer: answer, environment: environment, input: input, pause: pause)
  }

  func run(
    arguments: [String], answer: String? = nil, environment: [String: String] = [:],
    input: String = "", pause: (@Sendable (Duration) -> Void)? = nil
  ) -> Ran {
    let (result, notes) = (Record(), Record())
    let output = Output(
      program: OperatorProgram.name, result: OutputChannel(isTerminal: false) { result.add($0) },
      notes: OutputChannel(isTerminal: false) { notes.add($0) }, environment: Environment([:]),
      isInputTerminal: answer != nil, answer: { answer })
    let clock = clock
    var dependencies = OperatorDependencies(
      output: output, environment: Environment(environment), clock: clock, actor: "ann",
      input: { _ in Array(input.utf8) },
      pause: { duration in
        clock.advance(duration)
        pause?(duration)
      }, catchStop: {}, guarding: { _, body in try body() },
      isStopped: { duration in
        guard let pause else { return true }
        clock.advance(duration)
        pause(duration)
        return false
      }, clockDiscipline: { [clockDiscipline] in clockDiscipline },
      lockHolder: { [daemon] _ in daemon })
    dependencies.readiness = { [readiness] _ in readiness }
    let code = OperatorProgram.run(["--config", configurationPath] + arguments, in: dependencies)
    // Free disk space differs from run to run.
    let shown = result.text.replacing(/\d+(\.\d+)? [GM]iB free/, with: "SIZE free")
      .replacing(/"disk_free_bytes":\d+/, with: #""disk_free_bytes":1"#)
    return Ran(
      code: code, out: shown.replacing(folder, with: "FOLDER"),
      notes: notes.text.replacing(folder, with: "FOLDER"))
  }
}

extension OperatorHarness {
  /// Creates a purchase from an event; the receipt is ready at once when user and price are known.
  /// - Returns: the receipt's id.
  @discardableResult func purchase(
    _ object: ObjectID, user: String? = "jdo-1", price: PriceID? = "price_1", app: AppSlug = "ios",
    observations: Observations = .paid, processor: ProcessorName = "stripe"
  ) throws -> String {
    eventNumber += 1
    let report = PurchaseReport(
      key: PurchaseKey(processor: processor, type: PurchaseKey.ObjectType("subscription"), id: object),
      sessionID: "cs_\(object)",
      observations: observations,
      clientReference: user, prices: price.map { [$0] } ?? [], happenedAt: clock.now)
    _ = try writer.apply(
      IngestEvent(
        app: app, processor: processor, eventID: "evt_\(eventNumber)",
        type: "checkout.session.completed", body: Array(#"{"id":"evt_\#(eventNumber)"}"#.utf8),
        content: .report(report, keep: true)),
      now: clock.now)
    var filter = ReceiptFilter()
    filter.objectID = object
    filter.app = app
    return try #require(try reader().receipts(filter, limit: 1).first?.receipt?.id.text)
  }

  /// Applies a command of the daemon.
  @discardableResult func store<Command: StoreCommand>(_ command: Command) throws -> Command.Outcome {
    try writer.apply(command, now: clock.now)
  }

  /// Creates a context as an app posts it.
  @discardableResult func context(_ blob: String, user: UserID = "jdo-1", price: PriceID? = nil) throws
    -> String
  {
    var random = SeededGenerator(seed: UInt64(blob.utf8.count))
    let id = ContextID.make(now: clock.now, random: &random)
    let command = IngestContext(
      app: "ios", userID: user, blob: ContextBlob(text: blob, priceID: price),
      id: id)
    return try #require(try writer.apply(command, now: clock.now).stored).id.text
  }

  /// Records one delivery attempt.
  func attempt(
    _ id: String, status: Int64?, response: String = "", _ decision: Delivery.Decision, error: String? = nil,
    breaker: Breaker = Breaker()
  ) throws {
    let record = try #require(try reader().receipt(id: ReceiptID(id)))
    let report = AttemptReport(
      startedAt: clock.now, duration: .milliseconds(45), status: status, error: error,
      isAmbiguous: status == nil, response: Array(response.utf8))
    clock.advance(.milliseconds(45))
    _ = try writer.apply(
      RecordAttempt(
        of: record.receiptID, app: record.app, report: report, decision: decision, breaker: breaker),
      now: clock.now)
  }

  func fail(_ id: String, status: Int64 = 422) throws {
    let response = #"{"errors":["missing mandatory property \"user_id\""]}"#
    try attempt(id, status: status, response: response, .failed(.status(Int(status))))
  }

  func deliver(_ id: String, importID: String = "imp-1") throws {
    try attempt(id, status: 200, response: #"{"id":"\#(importID)"}"#, .delivered(importID: importID))
  }

  func receipt(_ id: String) throws -> Receipt {
    try #require(try reader().receipt(id: ReceiptID(id))?.receipt)
  }
}

/// Expected texts in files, so that every change of the output is reviewed.
enum Snapshot {
  /// Compares a text with its file in `Snapshots`.
  static func check(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(RecordedFile.fault(text, "Snapshots/\(name).txt") == nil, sourceLocation: sourceLocation)
  }
}
