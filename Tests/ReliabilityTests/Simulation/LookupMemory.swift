// The model of the lookups: the relay asks Stripe only for what a receipt waits for, one question at a time,
// not again right after an answer, and only at the configured address.

import SQLiteStore
import Store

/// The questions of all relays, in order.
struct LookupMemory {
  private struct Purchase: Hashable {
    let app: String
    let row: Int64
  }

  private struct Asked {
    let purchase: Purchase
    let reason: String?
    let at: Int64
  }

  /// The unanswered questions of this life, by number.
  private var open: [Int: Asked] = [:]
  /// The unanswered questions about customers, each the last of a lookup of one of these purchases.
  private var openCustomers: [Int: Set<Purchase>] = [:]
  /// When a purchase was last answered in this life, and what it waited for when the question was asked.
  private var answered: [Purchase: (reason: String?, at: Int64)] = [:]
  /// Apps whose event list was completed in this life, and whether that is committed.
  private var ended: [String: Bool] = [:]
  private var lists: [Int: String] = [:]
  private var changedAt: Int64 = 0
  /// For the report.
  private(set) var count = 0

  /// The pause after an answer without a result is at least ten seconds.
  private static let pause: Int64 = 10_000
  private static let reasons = ["price", "user", "subscription", "checkout"]

  /// The relay starts or reloads: it may repeat earlier questions.
  mutating func forget(now: Int64) {
    self = LookupMemory(changedAt: now, count: count)
  }

  init() {}

  private init(changedAt: Int64, count: Int) { (self.changedAt, self.count) = (changedAt, count) }

  /// A commit failed, or its answer was lost: what it would have stored may be asked again.
  mutating func noteLostCommit() { (answered, ended) = ([:], [:]) }

  mutating func noteCommit() { for app in ended.keys { ended[app] = true } }

  /// Checks the questions and answers of one step without a commit.
  mutating func judge(
    _ questions: [LookupRequest], _ answers: [LookupAnswer], _ reader: Connection, isStrict: Bool,
    _ faults: inout [String]
  ) throws {
    var answeredNow: Set<Purchase> = []
    for answer in answers {
      if let app = lists.removeValue(forKey: answer.number), answer.endsList { ended[app] = false }
      for purchase in openCustomers.removeValue(forKey: answer.number) ?? [] where !answer.isOrderly {
        answered[purchase] = nil
      }
      guard let asked = open.removeValue(forKey: answer.number) else { continue }
      answeredNow.insert(asked.purchase)
      // When one of its questions fails, the whole lookup is repeated.
      answered[asked.purchase] = answer.isOrderly ? (asked.reason, answer.at) : nil
    }
    for question in questions {
      count += 1
      if question.isMisdirected {
        faults.append("\(question.app): a question or a key went to the wrong address")
      }
      switch question.subject {
      case nil: faults.append("\(question.app): something was asked that nobody needs")
      case .events(let isFirstPage):
        lists[question.number] = question.app
        if isFirstPage, ended[question.app] == true, isStrict {
          faults.append("\(question.app): the events were fetched again, although all of them are here")
        }
      case .customer(let id):
        // The last question of a lookup, whose earlier answers may have named the user.
        let asking = answeredNow.filter { $0.app == question.app }
        openCustomers[question.number] = asking
        if !asking.isEmpty { continue }
        if try !Self.lacksUser(ofCustomer: id, question.app, reader) {
          faults.append("\(question.app): asked about \(id), whose user nobody needs")
        }
      case .object(let id), .sessions(ofSubscription: let id):
        guard let found = try Self.purchase(id, question.app, reader) else {
          faults.append("\(question.app): asked about \(id), of which nobody has heard")
          continue
        }
        let purchase = Purchase(app: question.app, row: found.row)
        if open.values.contains(where: { $0.purchase == purchase }) {
          faults.append("\(question.app): asked about \(id) twice at once")
        }
        open[question.number] = Asked(purchase: purchase, reason: found.reason, at: question.at)
        // The second question of a lookup follows the first answer.
        if answeredNow.contains(purchase) { continue }
        guard found.state == "waiting", Self.reasons.contains(found.reason ?? "") else {
          faults.append("\(question.app): asked about \(id), which is \(found.state ?? "no receipt")")
          continue
        }
        if let last = answered[purchase], isStrict, last.reason == found.reason,
          question.at - last.at < Self.pause
        {
          faults.append("\(question.app): asked about \(id) again right after its answer")
        }
      }
    }
  }

  private static func purchase(
    _ id: String, _ app: String, _ reader: Connection
  ) throws -> (row: Int64, state: String?, reason: String?)? {
    try reader.prepare(
      """
      SELECT row_id, state, reason FROM purchases WHERE app = ?1 AND (object_id = ?2 OR session_id = ?2)
      ORDER BY state IS NULL, object_id <> ?2 LIMIT 1
      """
    ).first([.text(app), .text(id)]) { row throws(SQLiteError) in
      (row.integer(0), try row.optionalText(1), try row.optionalText(2))
    }
  }

  /// Whether a receipt waits for its user, and has this customer.
  private static func lacksUser(
    ofCustomer id: String, _ app: String, _ reader: Connection
  ) throws -> Bool {
    try reader.prepare(
      """
      SELECT 1 FROM purchases WHERE app = ?1 AND customer_id = ?2 AND state = 'waiting' AND reason = 'user'
      """
    ).first([.text(app), .text(id)]) { _ throws(SQLiteError) in true } ?? false
  }

  /// Planned lookups for receipts that lack nothing, and missing ones for receipts that do.
  static let unplannedSQL = """
    SELECT count(*) FROM (
      SELECT row_id, state = 'waiting' AND reason IN ('price', 'user', 'subscription', 'checkout') AS lacks
      FROM purchases WHERE app IN ('calm', 'stormy'))
    WHERE coalesce(lacks, 0) <> EXISTS (SELECT 1 FROM look_ups WHERE purchase_row = row_id)
    """
}
