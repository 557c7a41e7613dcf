// Formats jobs for operators and scripts. Pure; any thread.

internal import Domain
internal import JSON
internal import Platform
internal import Presentation
internal import Store
internal import Terminal

enum JobText {
  /// The state; a job makes progress only while a receiptd runs.
  static func state(_ job: Job, isServed: Bool) -> String {
    isServed || !(job.state == .running || job.state == .preparing)
      ? job.state.rawValue : "\(job.state.rawValue), no receiptd"
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
  static func holds(_ holds: [JobHold], now: Timestamp) -> [String] {
    holds.map { hold in
      let (place, breaker): (AppDestination, Breaker)
      switch hold {
      case .pause(let slug, let pause):
        let app = DisplayText.clean(slug.text)
        let text = PauseText(pause, app: app, now: now)
        return "No receipt of \(app) is released while its deliveries are paused: they "
          + DisplayText.clean((text.map { "\($0.sentence) \($0.advice)" }) ?? "are paused.")
      case .breaker(let held, let stopped): (place, breaker) = (held, stopped)
      }
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
      "seconds_left": .optional(JobDescription.secondsLeft(job).map { Int64(clamping: $0) }),
      "note": .optional(job.note),
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
