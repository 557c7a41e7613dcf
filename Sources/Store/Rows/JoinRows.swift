// Counts of how contexts and receipts joined, by app and hour. A count follows its row: what it says can be
// compared with the rows at any time. Changes are collected during a transaction and written once at its end,
// one statement for each group that changed. The writer's thread.

internal import Domain

final class JoinRows {
  /// What is counted beside the outcomes of receipts.
  enum ContextCount: String {
    case received = "contexts"
    case unclaimed
  }

  private struct Group: Hashable {
    var app: AppSlug
    var hour: Int64
    var kind: String
  }

  private var changes: [Group: Int64] = [:]
  private let counting: StoreStatement
  private let forgetting: StoreStatement
  /// A group of the last hours may be counted again soon.
  private static let emptyAfterHours: Int64 = 24

  init(_ connection: StoreConnection) throws(StoreFault) {
    counting = try connection.prepare(
      """
      INSERT INTO join_counts (app, hour, kind, count) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (app, hour, kind) DO UPDATE SET count = join_counts.count + excluded.count
      """)
    forgetting = try connection.prepare("DELETE FROM join_counts WHERE app = ?1 AND hour = ?2 AND count = 0")
  }

  /// Discards changes of a transaction that was rolled back.
  func begin() { changes.removeAll(keepingCapacity: true) }

  /// Counts a receipt that was made, changed or deleted, in the hour in which it was created.
  func move(from old: PurchaseRecord?, to new: PurchaseRecord?) {
    let (before, after) = (old.flatMap(Self.group), new.flatMap(Self.group))
    guard before != after else { return }
    if let before { changes[before, default: 0] -= 1 }
    if let after { changes[after, default: 0] += 1 }
  }

  private static func group(_ record: PurchaseRecord) -> Group? {
    guard let receipt = record.receipt, let outcome = JoinOutcome(record.purchase, receipt) else {
      return nil
    }
    return Group(app: record.app, hour: receipt.createdAt.unixHour, kind: outcome.rawValue)
  }

  /// Counts contexts in the hour in which they were received.
  func count(_ kind: ContextCount, _ change: Int64, app: AppSlug, receivedAt: Timestamp) {
    changes[Group(app: app, hour: receivedAt.unixHour, kind: kind.rawValue), default: 0] += change
  }

  /// Writes the collected changes. Called right before the commit.
  func end(now: Timestamp) throws(StoreFault) {
    var old: Set<Group> = []
    for (group, change) in changes where change != 0 {
      try counting.run([.text(group.app), .integer(group.hour), .text(group.kind), .integer(change)])
      guard change < 0, group.hour < now.unixHour - Self.emptyAfterHours else { continue }
      old.insert(Group(app: group.app, hour: group.hour, kind: ""))
    }
    for group in old { try forgetting.run([.text(group.app), .integer(group.hour)]) }
  }
}

extension Timestamp {
  /// The number of whole hours since 1970.
  var unixHour: Int64 { unixMilliseconds / 3_600_000 }
}
