// The trouble of failed receipts: which, why, and the commands that replay exactly those. Pure; called from
// any thread.

internal import Config
internal import Domain
internal import Platform
internal import Reports
internal import Store

extension Trouble {
  /// The most commands in one notice, which must stay readable on a phone.
  static let commandsMax = 3
  /// - Parameters:
  ///   - recent: the receipts that failed within the window.
  ///   - standing: all receipts that are failed now.
  static func failures(
    _ count: Int64, app: AppSlug, now: Timestamp, recent: [FailureCount], standing: [FailureCount]
  ) -> Trouble {
    let text = words(standing)
    let commands = replays(of: recent, app: app)
    let list = "receiptctl receipts list --state failed --app \(app)"
    return Trouble(
      key: Key(condition: .receiptFailed, app: app), since: now, value: Double(count),
      summary: "\(CountText.of(count, "receipt")) of \(app) failed"
        + (text.isEmpty ? "" : " (failed now: \(text))"),
      advice: commands.isEmpty
        ? "See why: \(list)" : "Fix the cause, then: \(commands.joined(separator: "; then "))",
      reasons: standing.reduce(into: [:]) { $0[$1.reason, default: 0] += $1.count },
      commands: commands.isEmpty ? [list] : commands)
  }

  /// `gave_up 10 (timeout 8, http_503 2), http_422 1`: the most frequent first.
  private static func words(_ counts: [FailureCount]) -> String {
    Dictionary(grouping: counts, by: \.reason).map { reason, counts in
      let total = counts.reduce(0) { $0 + $1.count }
      let causes = counts.filter { !$0.cause.isEmpty && $0.cause != reason }
        .sorted { ($1.count, $0.cause) < ($0.count, $1.cause) }
        .map { "\($0.cause) \(CountText.grouped($0.count))" }
      let why = causes.isEmpty ? "" : " (\(causes.joined(separator: ", ")))"
      return (total, reason, "\(reason) \(CountText.grouped(total))\(why)")
    }.sorted { ($1.0, $0.1) < ($0.0, $1.1) }.map(\.2).joined(separator: ", ")
  }

  /// One command for each reason that permits a replay, the most frequent first. `since` is the creation time
  /// of the oldest of the receipts, which --since compares.
  static func replays(of recent: [FailureCount], app: AppSlug) -> [String] {
    Dictionary(grouping: recent, by: \.reason).compactMap { reason, counts -> (Int64, String, String)? in
      guard !Reason(reason).forbidsReplay, let since = counts.compactMap(\.madeSince).min() else {
        return nil
      }
      let command = SuggestedReplay.text(app: app, reason: reason, since: since)
      return (counts.reduce(0) { $0 + $1.count }, reason, command)
    }.sorted { ($1.0, $0.1) < ($0.0, $1.1) }.prefix(commandsMax).map(\.2)
  }
}
