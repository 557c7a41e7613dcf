// The columns of jobs. Pure; called from any thread.

public import Domain
internal import Formats
public import Store

public enum JobExport {
  /// - Parameter heldApps: the apps whose stopped deliveries delay a job; only its own page reads them.
  public static func fields(heldApps: [AppSlug] = []) -> ExportFields<Job> {
    let head: [ExportField<Job>] = [
      .text("id") { $0.id.text }, .text("kind") { $0.request.kind.rawValue },
      .text("state") { $0.state.rawValue }, ExportField("asked") { $0.request.source.json },
      ExportField("force") { .bool($0.request.force) }, .text("price_id") { $0.request.priceID?.text },
      ExportField("rate") { job in job.request.ratePerSecond.map { .number($0) } ?? .null },
      .text("actor") { $0.request.actor }, .text("why") { $0.request.reason },
      .number("total") { Int64($0.total) },
    ]
    let outcomes = JobOutcome.allCases.map { outcome in
      ExportField<Job>.number(outcome.rawValue) { Int64($0.count(outcome)) }
    }
    let tail: [ExportField<Job>] = [
      ExportField("failures") { job in
        .array(
          job.missed.map { missed in
            [
              "outcome": .string(missed.outcome.rawValue), "reason": .optional(missed.reason),
              "count": .integer(Int64(missed.count)),
            ]
          })
      },
      ExportField("held_apps") { _ in .array(heldApps.map { .string($0.text) }) },
      .number("seconds_left") { $0.secondsLeft.map { Int64(clamping: $0) } }, .text("note") { $0.note },
      .text("created_at") { $0.createdAt.rfc3339 }, .text("updated_at") { $0.updatedAt.rfc3339 },
      .text("ended_at") { $0.endedAt?.rfc3339 },
    ]
    return ExportFields(head + outcomes + tail)
  }
}

extension Job {
  /// How many seconds the release of the planned receipts takes, rounded up; nil without a rate, and when
  /// there is nothing to release.
  public var secondsLeft: UInt64? {
    guard endedAt == nil, state != .cancelled, let seconds = releaseSecondsLeft, seconds > 0 else {
      return nil
    }
    return UInt64(min(seconds, 1e15).rounded(.up))
  }
}
