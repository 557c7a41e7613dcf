// The failures that somebody should look at: the receipts are failed still, and nobody has acknowledged them.
// A value.

public import Domain
public import Store

public struct OpenFailures: Sendable, Equatable {
  /// The failures of an app by reason and cause, as they are counted by the minute.
  private struct Key: Hashable {
    var app: AppSlug
    var reason: String
    /// Empty if there is none.
    var cause: String
  }

  /// How many receipts are failed now.
  private let counts: [Key: Int64]

  /// Without those that are acknowledged for every processor, and have not grown since.
  public init(_ groups: [FailureGroup]) {
    let all = Dictionary(grouping: groups) { Key(app: $0.app, reason: $0.reason, cause: $0.cause ?? "") }
    counts = all.filter { !$0.value.allSatisfy { $0.attention == .acknowledged } }
      .mapValues { groups in groups.reduce(0) { $0 + $1.count } }
  }

  /// Those of an app's recent failures that are open. A receipt that was replayed and failed again is counted
  /// once: no more have failed than are failed now.
  public func among(_ recent: [FailureCount], app: AppSlug) -> [FailureCount] {
    recent.compactMap { failures in
      guard let count = counts[Key(app: app, reason: failures.reason, cause: failures.cause)] else {
        return nil
      }
      var failures = failures
      failures.count = min(failures.count, count)
      return failures
    }
  }
}
