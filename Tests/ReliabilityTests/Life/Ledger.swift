// The acknowledged data, recorded outside of the store: it must be in the database after any crash (R1, R3).
// Thread-safe.

import Domain
import Platform
import SQLiteStore
import Store

/// The record of all acknowledgements.
final class Ledger: Sendable {
  struct Context {
    var app: AppSlug
    var text: String
    var postedAt: Timestamp
  }

  struct Event {
    var app: AppSlug
    var id: EventID
    var body: [UInt8]
    var receivedAt: Timestamp
  }

  struct State {
    var contexts: [ContextID: Context] = [:]
    var events: [String: Event] = [:]
    /// Receipts, and when they were delivered.
    var delivered: [ReceiptID: Timestamp] = [:]
    var attempts: [String: (row: PurchaseRowID, at: Timestamp)] = [:]
    /// By app, the breakers that the database may contain, oldest first: the last acknowledged one, and those
    /// submitted since.
    fileprivate var breakers: [AppSlug: [(entry: Int, breaker: Breaker)]] = [:]
    fileprivate var appsWithBreaker: Set<AppSlug> = []
    /// Receipts that an operator may have reopened, acknowledged or not.
    fileprivate(set) var reopened: Set<ReceiptID> = []
    /// Cutoffs of rows that retention may have deleted, acknowledged or not.
    fileprivate(set) var cutoffs: [RetentionTable: Timestamp] = [:]
    fileprivate(set) var submitted = 0
    fileprivate(set) var answers: [Int: Int] = [:]
    fileprivate(set) var successes = 0

    /// Acknowledges a breaker that `mayKeep` recorded: older ones must no longer be in the database.
    mutating func keep(_ entry: Int, app: AppSlug) {
      breakers[app]?.removeAll { $0.entry < entry }
      appsWithBreaker.insert(app)
    }

    /// Submissions that were not answered exactly once.
    var unanswered: [Int] { (0..<submitted).filter { answers[$0] != 1 } }
  }

  private let state: Monitor<State>

  init(_ state: State = State()) { self.state = Monitor(state) }

  /// The current state.
  var page: State { state.withLock { $0 } }

  /// A command that is recorded when it is answered.
  func submission<Command: StoreCommand>(
    _ command: Command, _ note: @escaping @Sendable (inout State, Command.Outcome) -> Void
  ) -> Submission {
    let number = state.withLock { state in
      state.submitted += 1
      return state.submitted - 1
    }
    return Submission(command) { [state] result in
      state.withLock { state in
        state.answers[number, default: 0] += 1
        guard case .success(let outcome) = result else { return }
        state.successes += 1
        note(&state, outcome)
      }
    }
  }

  func mayReopen(_ receipt: ReceiptID) { state.withLock { _ = $0.reopened.insert(receipt) } }

  /// - Returns: its entry, to acknowledge it later.
  func mayKeep(_ breaker: Breaker, app: AppSlug) -> Int {
    state.withLock { state in
      state.breakers[app, default: []].append((state.submitted, breaker))
      return state.submitted
    }
  }

  func mayDelete(_ table: RetentionTable, before cutoff: Timestamp) {
    state.withLock { state in
      state.cutoffs[table] = max(state.cutoffs[table] ?? cutoff, cutoff)
    }
  }
}

extension Ledger.State {
  private func isKept(_ at: Timestamp, _ tables: RetentionTable...) -> Bool {
    tables.allSatisfy { table in cutoffs[table].map { at >= $0 } ?? true }
  }

  /// Acknowledged data that is missing.
  func faults(in connection: Connection) throws -> [String] {
    var faults: [String] = []
    let context = try connection.prepare(
      """
      SELECT coalesce(frame, CAST(ply_context AS BLOB)), dictionary FROM contexts
      WHERE id = ?1 AND app = ?2
      """)
    for (id, kept) in contexts where isKept(kept.postedAt, .contexts) {
      let found = try context.first([.text(id.text), .text(kept.app.text)], Self.stored)
      if try found.map({ try StoredTexts.text($0.bytes, $0.dictionary) }) != Array(kept.text.utf8) {
        faults.append("R1: context \(id) is lost")
      }
    }
    let event = try connection.prepare("SELECT body, dictionary FROM events WHERE event_id = ?1 AND app = ?2")
    for kept in events.values where isKept(kept.receivedAt, .events) {
      let found = try event.first([.text(kept.id.text), .text(kept.app.text)], Self.stored)
      if try found.map({ try StoredTexts.text($0.bytes, $0.dictionary) }) != kept.body {
        faults.append("R1: event \(kept.id) is lost")
      }
    }
    let receipt = try connection.prepare(
      "SELECT 1 FROM purchases WHERE receipt_id = ?1 AND state = 'delivered'")
    for (id, at) in delivered where isKept(at, .receipts) && !reopened.contains(id) {
      if try receipt.first([.text(id.text)], Self.exists) == nil {
        faults.append("R3: \(id) is not delivered")
      }
    }
    let attempt = try connection.prepare("SELECT 1 FROM attempts WHERE purchase_row = ?1 AND at = ?2")
    for (row, at) in attempts.values where isKept(at, .attempts, .receipts) {
      if try attempt.first([.integer(row.number), .integer(at.unixMilliseconds)], Self.exists) == nil {
        faults.append("R1: the attempt for row \(row) at \(at.unixMilliseconds) is lost")
      }
    }
    let breaker = try connection.prepare("SELECT state, failures FROM breakers WHERE app = ?1")
    for app in appsWithBreaker.sorted() {
      let found = try breaker.first([.text(app.text)]) { row throws(SQLiteError) in
        "\(try row.text(0)) \(row.integer(1))"
      }
      let possible = breakers[app, default: []].map { "\($0.breaker.state.rawValue) \($0.breaker.failures)" }
      if !possible.contains(found ?? "") {
        faults.append("R9: the breaker of \(app) is \(found ?? "lost") and not \(possible)")
      }
    }
    return faults
  }

  private static func exists(_ row: Row) -> Bool { true }

  private static func stored(_ row: Row) -> (bytes: [UInt8], dictionary: Int64?) {
    (row.blob(0), row.isNull(1) ? nil : row.integer(1))
  }
}

/// Reads compressed texts as any program can that has the database and the shipped dictionaries: the
/// simulations compare what was sent with what is stored.
enum StoredTexts {
  private static let codecs = BodyDictionary.allCases.map { try? FrameCodec(dictionary: $0.content) }

  /// - Parameter number: the dictionary of the frame that the bytes are; nil if they are the text.
  static func text(_ bytes: [UInt8], _ number: Int64?) throws -> [UInt8] {
    guard let number else { return bytes }
    let place = Int(number) - 1
    return codecs.indices.contains(place) ? try codecs[place]?.decompress(bytes, sizeMax: 1 << 24) ?? [] : []
  }
}
