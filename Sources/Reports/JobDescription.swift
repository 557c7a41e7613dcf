// What a job was asked to do and how far it is, as text. Pure; called from any thread.

internal import Domain
internal import Platform
public import Store

/// Words about a job. Not sanitized.
public enum JobDescription {
  /// `replay: state failed, reason gave_up`
  public static func asked(_ job: Job) -> String {
    let request = job.request
    var text = request.kind.rawValue
    switch request.source {
    case .ids(let count): text += ": \(CountText.grouped(count)) by id"
    case .filter(let filter, let limit):
      // This `until` is not from the operator: it is the time at which the job was created.
      let isOwnEnd = filter.until == job.createdAt.advanced(by: .milliseconds(1))
      let parts: [(String, String?)] = [
        ("app", filter.app?.text), ("processor", filter.processor?.text), ("state", filter.states.words),
        ("reason", filter.reason),
        ("cause", filter.cause.flatMap { $0.isEmpty ? nil : $0 }),
        ("last answer", filter.status?.text), ("without", filter.lacksImportID ? "import id" : nil),
        ("join", filter.join?.rawValue), ("with", filter.isInConflict ? "a user conflict" : nil),
        ("user", filter.userID?.text), ("customer", filter.customerID?.text),
        ("price", filter.priceID?.text), ("checkout", filter.sessionID?.text),
        ("object", filter.objectID?.text), ("import id", filter.importID),
        ("since", filter.since?.rfc3339), ("until", isOwnEnd ? nil : filter.until?.rfc3339),
        ("at most", limit.map(CountText.grouped)),
      ]
      let given = parts.compactMap { name, value in value.map { "\(name) \($0)" } }
      if !given.isEmpty { text += ": \(given.joined(separator: ", "))" }
    }
    if let price = request.priceID { text += ", with the price \(price)" }
    if let user = request.userID { text += ", for the user \(user)" }
    if request.force { text += ", delivered ones, too" }
    return text
  }

  /// `1,200 delivered, 3 failed`; the number of released receipts if none has ended.
  public static func outcomes(_ job: Job) -> String {
    let shown: [JobOutcome] = [.delivered, .failed, .cancelled, .skipped, .gone]
    var parts = shown.compactMap { outcome -> String? in
      let count = job.count(outcome)
      return count > 0 ? "\(CountText.grouped(count)) \(outcome.rawValue)" : nil
    }
    let (released, planned) = (job.count(.released), job.count(.planned))
    if released > 0 { parts.append("\(CountText.grouped(released)) under way") }
    if planned > 0 {
      parts.append("\(CountText.grouped(planned)) \(job.state == .cancelled ? "left" : "to come")")
    }
    return parts.isEmpty ? "no receipts" : parts.joined(separator: ", ")
  }

  /// The state; of an ended job, whether receipts missed the outcome that was asked for:
  /// `done, 19 of 30 not delivered`.
  /// - Parameter isServed: whether a receiptd runs, without which a job makes no progress.
  public static func state(_ job: Job, isServed: Bool = true) -> String {
    if !isServed, job.state == .running || job.state == .preparing {
      return "\(job.state.rawValue), no receiptd"
    }
    let missed = job.missed.reduce(0) { $0 + $1.count }
    guard job.state == .done, missed > 0 else { return job.state.rawValue }
    return "\(job.state.rawValue), \(CountText.grouped(missed)) of \(CountText.grouped(job.total)) not "
      + job.request.kind.aim
  }

  /// Rate and remaining time, such as `5/s, 3 min left`.
  public static func pace(_ job: Job) -> String {
    guard let rate = job.request.ratePerSecond else { return "unlimited" }
    var text = CountText.rate(rate)
    if let effective = job.effectiveRate, effective < rate {
      text += " (\(CountText.rate(effective)) by delivery.rate)"
    }
    guard let left = job.secondsLeft else { return text }
    return "\(text), \(RelativeTime.left(seconds: Double(left))) left"
  }
}

extension JobKind {
  /// What becomes of each of its receipts, if all goes well.
  fileprivate var aim: String { self == .cancel ? "cancelled" : "delivered" }
}
