// Formats jobs for operators and scripts. Pure; any thread.

internal import Domain
internal import JSON
internal import Platform
internal import Presentation
internal import Store
internal import Terminal

enum JobText {
  /// `replay: state failed, reason gave_up`
  static func asked(_ job: Job) -> String {
    let request = job.request
    var text = request.kind.rawValue
    switch request.source {
    case .ids(let count): text += ": \(CountText.grouped(count)) by id"
    case .filter(let filter, let limit):
      // This `until` is not from the operator: it is the time at which the job was created.
      let isOwnEnd = filter.until == job.createdAt.advanced(by: .milliseconds(1))
      let parts: [(String, String?)] = [
        ("app", filter.app?.text), ("processor", filter.processor?.text), ("state", filter.state?.rawValue),
        ("reason", filter.reason),
        ("cause", filter.cause.flatMap { $0.isEmpty ? nil : $0 }),
        ("without", filter.lacksImportID ? "import id" : nil),
        ("user", filter.userID?.text), ("object", filter.objectID?.text), ("import id", filter.importID),
        ("since", filter.since?.text), ("until", isOwnEnd ? nil : filter.until?.text),
        ("at most", limit.map(CountText.grouped)),
      ]
      let given = parts.compactMap { name, value in value.map { "\(name) \($0)" } }
      if !given.isEmpty { text += ": \(given.joined(separator: ", "))" }
    }
    if let price = request.priceID { text += ", with the price \(price)" }
    if request.force { text += ", delivered ones, too" }
    return text
  }

  /// The state; a job makes progress only while a receiptd runs.
  static func state(_ job: Job, isServed: Bool) -> String {
    isServed || !(job.state == .running || job.state == .preparing)
      ? job.state.rawValue : "\(job.state.rawValue), no receiptd"
  }

  /// `1,200 delivered, 3 failed`; the number of released receipts if none has ended.
  static func outcomes(_ job: Job) -> String {
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

  /// Rate and remaining time, such as `5/s, 3 min left`.
  static func pace(_ job: Job) -> String {
    guard let rate = job.request.ratePerSecond else { return "unlimited" }
    let text = Counted.rate(rate)
    guard let left = secondsLeft(job) else { return text }
    return "\(text), \(RelativeTime.span(seconds: left)) left"
  }

  static func secondsLeft(_ job: Job) -> UInt64? {
    guard job.endedAt == nil, job.state != .cancelled, let seconds = job.releaseSecondsLeft, seconds > 0
    else { return nil }
    return UInt64(min(seconds, 1e15).rounded(.up))
  }

  /// The receipts that were not processed, by reason.
  static func missedTable(_ job: Job) -> Table {
    var table = Table(
      [
        .init("OUTCOME"), .init("REASON"), .init("COUNT", alignment: .trailing),
        .init("MEANING", canShrink: true),
      ],
      emptyMessage: "")
    for missed in job.missed {
      table.add([
        Table.Cell(missed.outcome.rawValue, missed.outcome == .failed ? .red : .yellow),
        Table.Cell(missed.reason ?? "-"), Table.Cell(count: missed.count), Table.Cell(meaning(of: missed)),
      ])
    }
    return table
  }

  private static func meaning(of missed: JobCount) -> String {
    switch missed.outcome {
    case .gone: return "no longer exists"
    case .skipped:
      guard let result = missed.reason.flatMap(OperatorResult.init(code:)) else {
        return "is of an app that is not configured"
      }
      return result.explanation(id: "ID")
    default: return missed.reason.map { Reason($0).meaning } ?? ""
    }
  }

  /// Why a job releases nothing but a probe, per app, such as `deliveries of ios were paused …`.
  static func holds(_ holds: [(place: AppDestination, breaker: Breaker)], now: Timestamp) -> [String] {
    holds.map { place, breaker in
      let app = DisplayText.clean(place.app.text)
      let destination = DisplayText.clean(place.destination.text)
      let why =
        BreakerText(breaker, app: app, now: now, advice: nil).map { " \($0.sentence)" } ?? " are stopped."
      return "No receipt of \(app) is released while its deliveries to \(destination) are stopped, "
        + "except one as the probe when nothing else of the app is due: they\(why)"
    }
  }

  static func json(_ job: Job, heldApps: [AppSlug] = []) -> JSONValue {
    let rate = job.request.ratePerSecond.map { JSONValue.number($0) } ?? .null
    let outcomes = JobOutcome.allCases.map { outcome in
      JSONValue.Member(name: outcome.rawValue, value: .integer(Int64(job.count(outcome))))
    }
    let failures = job.missed.map { missed -> JSONValue in
      [
        "outcome": .string(missed.outcome.rawValue), "reason": .optional(missed.reason),
        "count": .integer(Int64(missed.count)),
      ]
    }
    let head: JSONValue = [
      "id": .string(job.id.text), "kind": .string(job.request.kind.rawValue),
      "state": .string(job.state.rawValue),
      "asked": job.request.source.json, "force": .bool(job.request.force),
      "price_id": .optional(job.request.priceID?.text), "rate": rate, "actor": .string(job.request.actor),
      "why": .optional(job.request.reason), "total": .integer(Int64(job.total)),
    ]
    let tail: JSONValue = [
      "failures": .array(failures), "held_apps": .array(heldApps.map { .string($0.text) }),
      "seconds_left": .optional(secondsLeft(job).map { Int64(clamping: $0) }), "note": .optional(job.note),
      "created_at": .time(job.createdAt), "updated_at": .time(job.updatedAt), "ended_at": .time(job.endedAt),
    ]
    guard case .object(let first) = head, case .object(let last) = tail else { return head }
    return .object(first + outcomes + last)
  }
}

extension JobState {
  /// Its style in a table.
  var style: Style {
    switch self {
    case .preparing: .cyan
    case .running: .yellow
    case .paused: .red
    case .done: .green
    case .cancelled: .dim
    }
  }
}
