// What a command works with while its transaction is open: the rows, the moment, the rules, and a list of
// what must be told to others once the transaction is on disk. The writer's thread.

public import Domain
internal import SQLite

/// What an app's configuration means for the store.
public struct AppRules: Sendable {
  public var join: JoinPolicy
  /// Makes the bytes that the app's destination gets.
  public var compose: @Sendable (ReceiptContent) -> [UInt8]

  public init(join: JoinPolicy, compose: @escaping @Sendable (ReceiptContent) -> [UInt8]) {
    self.join = join
    self.compose = compose
  }
}

/// What a committed batch changed that others wait for.
public struct StoreChanges: Sendable, Equatable {
  /// Apps with receipts that are due, and from when the earliest is.
  public var dueAt: [String: Timestamp] = [:]
  /// Contexts whose checkout may have a new state.
  public var contextIDs: Set<String> = []
  /// When the earliest wait that was set runs out.
  public var waitUntil: Timestamp?
  /// Whether there is something new for whoever runs jobs.
  public var hasJobs = false

  public init() {}

  public var isEmpty: Bool { dueAt.isEmpty && contextIDs.isEmpty && waitUntil == nil && !hasJobs }

  mutating func note(_ record: PurchaseRecord) {
    guard let receipt = record.receipt else { return }
    if let contextID = record.purchase.contextID { contextIDs.insert(contextID) }
    if receipt.state == .pending, let at = receipt.nextAttemptAt {
      dueAt[record.app] = min(dueAt[record.app] ?? at, at)
    }
    if receipt.state == .waiting, let until = receipt.waitUntil { waitUntil = min(waitUntil ?? until, until) }
  }
}

/// The open transaction, as commands see it.
public final class StoreSession {
  let connection: Connection
  let counts: CountRows
  let purchases: PurchaseRows
  let contexts: ContextRows
  let events: EventRows
  let attempts: AttemptRows
  let breakers: BreakerRows
  let retention: RetentionRows
  let audit: AuditRows
  let jobs: JobRows
  var rules: [String: AppRules]
  var now: Timestamp
  var changes = StoreChanges()
  private var random: any RandomNumberGenerator & Sendable

  init(
    _ connection: Connection, rules: [String: AppRules], random: any RandomNumberGenerator & Sendable
  ) throws(SQLiteError) {
    self.connection = connection
    self.rules = rules
    self.random = random
    now = Timestamp(unixMilliseconds: 0)
    counts = try CountRows(connection)
    purchases = try PurchaseRows(connection, counts: counts)
    contexts = try ContextRows(connection)
    events = try EventRows(connection)
    attempts = try AttemptRows(connection)
    breakers = try BreakerRows(connection)
    retention = try RetentionRows(connection)
    audit = try AuditRows(connection)
    jobs = try JobRows(connection)
  }

  /// A new receipt's identifier. It names its row.
  func receiptIdentifier(row: Int64) -> String {
    Identifier.make(prefix: Identifier.receiptPrefix, now: now, number: row, random: &random)
  }

  /// A new job's identifier. It names its row.
  func jobIdentifier(row: Int64) -> String {
    Identifier.make(prefix: Identifier.jobPrefix, now: now, number: row, random: &random)
  }

  /// Runs `body` in a transaction of its own: everything in it is on disk when this returns, or nothing is.
  func transaction<Result>(
    now: Timestamp, _ body: () throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result {
    self.now = now
    changes = StoreChanges()
    do throws(SQLiteError) {
      return try connection.transaction { () throws(SQLiteError) in
        try breakers.refresh(connection)
        try counts.begin()
        let result = try body()
        try counts.end(now: now)
        return result
      }
    } catch {
      breakers.distrust()
      throw error
    }
  }

  /// The rules of an app that is configured; the defaults, which deliver nowhere, for one that no longer is.
  func rules(of app: String) -> AppRules? { rules[app] }
}
