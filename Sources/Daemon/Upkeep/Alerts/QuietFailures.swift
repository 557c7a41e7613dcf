// The failures that somebody takes care of, which raise no alert. A value.

internal import Domain
internal import Service
internal import Store

struct QuietFailures: Equatable {
  /// The failures of an app by reason and cause, as they are counted by the minute.
  private struct Key: Hashable {
    var app: AppSlug
    var reason: String
    /// Empty if there is none.
    var cause: String
  }

  private let keys: Set<Key>

  /// Those that are acknowledged for every processor, and have not grown since.
  init(_ groups: [FailureGroup]) {
    let all = Dictionary(grouping: groups) { Key(app: $0.app, reason: $0.reason, cause: $0.cause ?? "") }
    keys = Set(all.filter { $0.value.allSatisfy { $0.attention == .acknowledged } }.keys)
  }

  /// What is left of an app's failures without these.
  /// - Parameters:
  ///   - count: of all.
  ///   - recent: the same by reason and cause.
  func rest(
    of count: Int64, _ recent: [FailureCount], app: AppSlug
  ) -> (count: Int64, recent: [FailureCount]) {
    let loud = recent.filter { !keys.contains(Key(app: app, reason: $0.reason, cause: $0.cause)) }
    let quiet = recent.reduce(0) { $0 + $1.count } - loud.reduce(0) { $0 + $1.count }
    return (count - quiet, loud)
  }
}

extension AlertWatch {
  /// The receipts that failed since then, for a notice about a trouble that lasts.
  func failures(of app: AppSlug, since: Timestamp, now: Timestamp) throws(StoreFault) -> Finding {
    let (count, loud) = QuietFailures(try reader.failureGroups(FailureChoice(app: app))).rest(
      of: try reader.failures(since: since)[app] ?? 0,
      try reader.recentFailures(since: since)[app] ?? [], app: app)
    return .failures(
      count, app: app, now: now, recent: loud, standing: try reader.failedNow()[app] ?? [])
  }
}
