// A real store in a directory of its own, with a clock that stands until a test moves it.

import Platform
import Domain
import FoundationEssentials
import SQLite
import SQLiteStore
import Store
import Testing

let second: Int64 = 1000
let minute = 60 * second
let hour = 60 * minute
let day = 24 * hour

/// A new directory under the system's temporary one.
func makeDirectory() throws -> URL {
  let directory = FileManager.default.temporaryDirectory.appending(path: "store-tests-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
  return directory
}

final class TestStore {
  static let start = Timestamp(unixMilliseconds: 1_800_000_000_000)

  /// Two apps that deliver without a context, and one that holds. None waits for events to settle: what an
  /// event does is seen at once.
  static let rules = rules(settle: 0)

  static func rules(settle: Int64) -> [String: AppRules] {
    let deliver = JoinPolicy(settleMilliseconds: settle)
    let hold = JoinPolicy(settleMilliseconds: settle, withoutContext: .hold)
    return [
      "ios": AppRules(join: deliver, compose: compose), "web": AppRules(join: deliver, compose: compose),
      "held": AppRules(join: hold, compose: compose),
    ]
  }

  private let directory: URL
  private let rules: [String: AppRules]
  let path: String
  private(set) var writer: StoreWriter
  private(set) var reader: StoreReader
  private let file: Connection
  var now = TestStore.start
  private var random: SeededGenerator
  private var eventCount = 0

  init(seed: UInt64 = 1, rules: [String: AppRules] = TestStore.rules) throws {
    directory = try makeDirectory()
    self.rules = rules
    path = directory.appending(path: "relay.db").path
    random = SeededGenerator(seed: seed)
    writer = try StoreWriter(path: path, role: .owner, rules: rules, random: SeededGenerator(seed: ~seed))
    reader = try StoreReader(path: path)
    file = try Connection(path: path, mode: .readOnly, busyTimeoutMilliseconds: 1000)
  }

  deinit {
    // What is left of it is in the system's temporary directory.
    try? FileManager.default.removeItem(at: directory)
  }

  /// What a destination would get, readable.
  static func compose(_ content: ReceiptContent) -> [UInt8] {
    let words = [
      content.userID, content.key.type.rawValue, content.key.id, content.priceID, content.context ?? "-",
    ]
    return Array(words.joined(separator: " ").utf8)
  }

  /// As after a restart: nothing but the file is known (R9).
  func reopen() throws {
    let random = SeededGenerator(seed: random.next())
    writer = try StoreWriter(path: path, role: .owner, rules: rules, random: random)
    reader = try StoreReader(path: path)
  }

  func advance(_ milliseconds: Int64) { now = now.advanced(byMilliseconds: milliseconds) }

  func after(_ milliseconds: Int64) -> Timestamp { now.advanced(byMilliseconds: milliseconds) }

  func apply<Command: StoreCommand>(_ command: Command) throws -> Command.Outcome {
    try writer.apply(command, now: now)
  }

  /// The app posts a context.
  @discardableResult
  func post(_ text: String = "blob", user: String = "u1", price: String? = nil, app: String = "ios") throws
    -> String
  {
    try apply(contextCommand(text, user: user, price: price, app: app)).id
  }

  func contextCommand(_ text: String, user: String, price: String? = nil, app: String = "ios") -> TakeContext
  {
    TakeContext(
      app: app, userID: user, blob: ContextBlob(text: text, priceID: price), digest: Array(text.utf8),
      id: Identifier.make(prefix: Identifier.contextPrefix, now: now, random: &random))
  }

  /// An event comes in.
  @discardableResult
  func take(
    _ report: PurchaseReport, app: String = "ios", id: String? = nil, keep: Bool = true, type: String = "test"
  ) throws -> TakeEvent.Outcome {
    eventCount += 1
    return try apply(
      TakeEvent(
        app: app, processor: "stripe", eventID: id ?? "evt_\(eventCount)", type: type, body: Array("{}".utf8),
        content: .report(report, keep: keep)))
  }

  /// All receipts, in the order in which their purchases were first heard of.
  func receipts(app: String? = nil) throws -> [PurchaseRecord] {
    var filter = ReceiptFilter()
    filter.app = app
    return try reader.receipts(filter, limit: 10_000).sorted { $0.rowID < $1.rowID }
  }

  /// The one receipt that there is.
  func only(app: String? = nil) throws -> PurchaseRecord {
    let receipts = try receipts(app: app)
    try #require(receipts.count == 1, "there are \(receipts.count) receipts")
    return try #require(receipts.first)
  }

  /// State and reason of the one receipt, and what would be sent.
  func status(app: String? = nil) throws -> String { Self.status(try only(app: app)) }

  static func status(_ record: PurchaseRecord) -> String {
    guard let receipt = record.receipt else { return "none" }
    let body = receipt.body.map { ": " + String(decoding: $0, as: UTF8.self) } ?? ""
    return receipt.state.rawValue + (receipt.reason.map { "/\($0)" } ?? "") + body
  }

  func context(_ id: String) throws -> ContextSummary { try #require(try reader.context(id: id, now: now)) }

  /// Lets every wait end that has run out.
  @discardableResult
  func endWaits() throws -> Timestamp? { try apply(EndWaits()) }

  /// A number from the file itself.
  func integer(_ sql: String) throws -> Int64? {
    try file.integer(sql)
  }
}

/// What completions were called with, in their order.
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

/// What events say in tests: the purchase `n` has the session `cs_n`, the subscription `sub_n` and the
/// customer `cus_n`.
enum Said {
  static func completed(
    _ n: String = "1", user: String? = "u1", unpaid: Bool = false, named: Bool = true,
    metadataUser: String? = nil,
    contextID: String? = nil, blob: ContextBlob? = nil, prices: [String] = [], customer: Bool = true,
    at: Timestamp = TestStore.start
  ) -> PurchaseReport {
    let seen: Observations = unpaid ? .checkoutUnpaid : .checkoutPaid
    var said = session(n, named ? seen : seen.union(.subscriptionExpected), named: named, at: at)
    said.clientReference = user
    said.metadataUser = metadataUser
    said.contextID = contextID
    said.context = blob
    said.prices = prices
    if !customer { said.customerID = nil }
    return said
  }

  static func payment(_ n: String = "1", user: String? = "u1", prices: [String] = ["price_1"])
    -> PurchaseReport
  {
    var said = session(n, .checkoutPaid, named: false, at: TestStore.start)
    said.clientReference = user
    said.prices = prices
    return said
  }

  static func session(
    _ n: String, _ observations: Observations, named: Bool = true, at: Timestamp = TestStore.start
  ) -> PurchaseReport {
    PurchaseReport(
      key: named
        ? PurchaseKey(type: .subscription, id: "sub_\(n)")
        : PurchaseKey(type: .checkoutSession, id: "cs_\(n)"),
      sessionID: "cs_\(n)", observations: observations, customerID: "cus_\(n)", happenedAt: at)
  }

  static func created(
    _ n: String = "1", active: Bool = true, user: String? = nil, customer: String? = nil,
    price: String? = "price_1",
    contextID: String? = nil, at: Timestamp = TestStore.start
  ) -> PurchaseReport {
    PurchaseReport(
      key: PurchaseKey(type: .subscription, id: "sub_\(n)"), observations: active ? .subscriptionBegan : [],
      customerID: customer ?? "cus_\(n)", contextID: contextID, metadataUser: user,
      prices: price.map { [$0] } ?? [], happenedAt: at)
  }

  static func invoice(
    _ n: String = "1", user: String? = nil, price: String? = "price_1", at: Timestamp = TestStore.start
  ) -> PurchaseReport {
    var said = created(n, user: user, price: price, at: at)
    said.observations = .firstInvoicePaid
    return said
  }
}
