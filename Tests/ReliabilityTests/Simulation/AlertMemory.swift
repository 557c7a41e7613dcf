// The model of the alert notices. Each trouble is reported once when it begins and once when it ends,
// repeated only at intervals, and late only while its address is in trouble itself.

/// The notices to all addresses, across restarts of the relay.
struct AlertMemory {
  /// The last notice that an address accepted.
  private struct Accepted {
    var number: Int
    var isFiring: Bool
    var acceptedAt: Int64
    /// When the trouble was last reported as present.
    var firingAt: Int64
    /// Whether the relay knows that the notice was accepted; otherwise it must send it again.
    var isKnown: Bool
    /// Whether the relay knows that the notice may have been accepted: then it must also report the end.
    var isOwed = false
  }

  /// Whether a trouble was present at the last look.
  private struct Truth {
    var isThere: Bool
    var since: Int64
    /// When it was last in the other state.
    var otherwiseAt: Int64
  }

  /// The subject of a trouble.
  struct Trouble: Hashable {
    var condition: String
    var app: String
  }

  static let every = 4 * SimulatedWorld.hour
  /// The longest time between two checks of the alerter: a quarter of `every`, plus 10 s.
  private static let lookInterval = SimulatedWorld.hour + 10 * SimulatedWorld.second
  /// The tolerance: the longest pause after failures, time-outs, the pauses between notices, and one late
  /// check.
  private static let slack = 2 * lookInterval + 20 * SimulatedWorld.minute

  /// How much older than usual the relay's last look may be, because the database could not be read.
  var blindTime: Int64 = 0
  private var accepted: [Notice.Key: Accepted] = [:]
  private var truths: [Trouble: Truth] = [:]
  /// Troubles of which a notice was sent, whether or not the address accepted it: their end may be reported.
  private var begun: Set<Notice.Key> = []
  private var reloadedAt = Int64.min
  /// Known in memory, but not saved to the database yet.
  private var unsaved: Set<Int> = []
  /// Known in memory, and perhaps never saved.
  private var lost: Set<Int> = []

  /// The relay died: it may have forgotten everything that it had not stored.
  mutating func forget() {
    for (key, last) in accepted where unsaved.union(lost).contains(last.number) {
      accepted[key]?.isKnown = false
      accepted[key]?.isOwed = false
    }
    (unsaved, lost) = ([], [])
  }

  mutating func noteCommit() { unsaved = [] }

  /// A commit failed, or its answer was lost: it may have saved notices.
  mutating func noteLostCommit() { lost.formUnion(unsaved) }

  mutating func noteReload(now: Int64) { reloadedAt = now }

  /// Records whether a trouble is present now.
  mutating func check(_ trouble: Trouble, isThere: Bool, now: Int64) {
    guard var truth = truths[trouble] else {
      truths[trouble] = Truth(isThere: isThere, since: now, otherwiseAt: Int64.min / 2)
      return
    }
    guard truth.isThere != isThere else { return }
    truth.isThere = isThere
    (truth.since, truth.otherwiseAt) = (now, now)
    truths[trouble] = truth
  }

  /// Checks the notices of one step, after a look.
  mutating func judge(
    _ notices: [Notice], _ heard: [(number: Int, isAccepted: Bool)], isStrict: Bool, now: Int64,
    _ faults: inout [String]
  ) {
    for (number, isAccepted) in heard {
      guard let key = accepted.first(where: { $0.value.number == number })?.key else { continue }
      if isAccepted { accepted[key]?.isKnown = true }
      accepted[key]?.isOwed = true
      unsaved.insert(number)
    }
    for notice in notices {
      let last = accepted[notice.key]
      let name = "\(notice.key.receiver): \(notice.key.condition) of \(notice.key.app)"
      if let fault = fault(notice, last, now: now), isStrict { faults.append("\(name) \(fault)") }
      if notice.isFiring { begun.insert(notice.key) }
      guard notice.isAccepted else { continue }
      if !notice.isFiring { begun.remove(notice.key) }
      // The end follows a notice that the relay may have forgotten with its answer.
      let firingAt = last.map { $0.isOwed ? $0.firingAt : .min / 2 } ?? notice.at
      accepted[notice.key] = Accepted(
        number: notice.number, isFiring: notice.isFiring, acceptedAt: notice.at,
        firingAt: notice.isFiring ? notice.at : firingAt, isKnown: false)
    }
  }

  private func fault(_ notice: Notice, _ last: Accepted?, now: Int64) -> String? {
    guard let truth = truths[Trouble(condition: notice.key.condition, app: notice.key.app)] else {
      return "has no rule"
    }
    // A trouble found at the last look may have ended.
    let isTrue = truth.isThere == notice.isFiring || now - truth.otherwiseAt <= Self.lookInterval + blindTime
    if !isTrue {
      return notice.isFiring ? "was reported but does not fire" : "was reported as resolved but fires"
    }
    if notice.isFiring {
      // A notice whose answer was lost is sent again at once; one that was answered is not.
      if let last, last.isKnown, notice.at - last.firingAt < Self.every {
        return "was reported again after \(notice.at - last.firingAt) ms"
      }
      return nil
    }
    guard let last else { return begun.contains(notice.key) ? nil : "is over and was never reported" }
    return last.acceptedAt > reloadedAt && !last.isFiring && last.isKnown ? "was said to be over twice" : nil
  }

  /// Notices that are overdue.
  /// - Parameter since: when the relay and this address last became healthy.
  func faults(_ receiver: String, since: Int64, now: Int64) -> [String] {
    truths.compactMap { trouble, truth in
      let key = Notice.Key(receiver: receiver, condition: trouble.condition, app: trouble.app)
      let last = accepted[key]
      let name = "\(receiver): \(trouble.condition) of \(trouble.app)"
      let lasts = now - max(truth.since, since)
      if truth.isThere {
        guard lasts > Self.every + Self.slack else { return nil }
        guard let last, last.isFiring else { return "\(name) is there for \(lasts) ms, and not reported" }
        let age = now - last.firingAt
        return age > Self.every + Self.slack ? "\(name) is not reported again" : nil
      }
      guard lasts > Self.slack, let last, last.isFiring, last.isOwed else { return nil }
      return "\(name) is over for \(lasts) ms, and not reported"
    }
  }
}
