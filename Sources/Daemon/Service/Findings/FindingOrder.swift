// The order in which findings are listed, on every face. Pure; called from any thread.

public import Domain

extension Finding {
  /// How early it is listed among those of its level: the cases are in the order of the lists.
  public enum Urgency: Int, Sendable {
    /// The relay accepts nothing, or soon will not, or loses what it has.
    case down
    /// Customers pay, and no receipt is made.
    case losing
    /// Receipts are made, and do not reach the destination.
    case stopped
    /// Something works late, or only in part.
    case impaired
    /// Something will become a problem, or a setting could be better.
    case soon
    /// An operator wants it so.
    case intended
  }

  /// In the order in which operators should act: failures first, then warnings, and of each the most urgent
  /// first; of those that are as urgent, those that have lasted longest. What is well is last.
  public static func byUrgency(_ findings: [Finding], now: Timestamp) -> [Finding] {
    let keys = findings.enumerated().map { index, finding in
      (
        finding.level.rank, finding.urgency.rawValue, finding.since ?? now,
        finding.app?.text ?? "", finding.title, index
      )
    }
    return keys.sorted(by: <).map { findings[$0.5] }
  }

  /// The problems, each once, the most urgent first.
  /// - Parameters:
  ///   - reported: what the relay reports; what is well with it is left out.
  ///   - troubles: what alerts report. What is reported, too, is not repeated, but is as urgent.
  public static func problems(_ reported: [Finding], _ troubles: [Finding], now: Timestamp) -> [Finding] {
    func identity(_ finding: Finding) -> [String] { [finding.title, finding.app?.text ?? ""] }
    var found = reported.filter { $0.level != .ok }
    var places = Dictionary(grouping: found.indices) { identity(found[$0]) }
    for trouble in troubles {
      let same = places[identity(trouble)] ?? []
      for place in same where trouble.urgency.rawValue < found[place].urgency.rawValue {
        found[place].urgency = trouble.urgency
      }
      guard same.isEmpty else { continue }
      places[identity(trouble)] = [found.count]
      found.append(trouble)
    }
    return byUrgency(found, now: now)
  }
}

extension Finding.Level {
  /// The most urgent first.
  fileprivate var rank: Int {
    switch self {
    case .failure: 0
    case .warning: 1
    case .ok: 2
    }
  }
}
