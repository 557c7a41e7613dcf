// The list of jobs. Pure, but for reading it; called from any thread.

public import Domain
internal import Formats
public import Store

/// Jobs, newest first.
public enum JobResource {
  /// - Parameters:
  ///   - heldApps: the apps whose stopped deliveries delay a job; only its own page reads them.
  ///   - isServed: whether a receiptd does the jobs' work.
  public static func list(heldApps: [AppSlug] = [], isServed: Bool = true) -> Resource<Job> {
    let outcomes = JobOutcome.allCases.map { outcome in
      ListField<Job>.number(outcome.rawValue) { Int64($0.count(outcome)) }
    }
    return Resource(
      "jobs", one: "job", emptyPage: "There are no jobs. Replaying a group of failed receipts starts one.",
      head(isServed: isServed) + outcomes + tail(heldApps),
      table: ["id", "state", "what", "done", "total", "pace", "created_at", "actor"],
      page: ["id", "what", "state", "done", "total", "actor", "created_at"])
  }

  private static func head(isServed: Bool) -> [ListField<Job>] {
    [
      .id("id") { .job($0.id) }.titled("Job", heading: "ID"), .text("kind") { $0.request.kind.rawValue },
      .text("state") { $0.state.rawValue }.titled("State") { job in
        .state(JobDescription.state(job, isServed: isServed), job.tone)
      },
      .json("asked") { $0.request.source.json }, .flag("force") { $0.request.force },
      .shown("what").titled("What", .long) { .text(JobDescription.asked($0)) },
      .text("price_id") { $0.request.priceID?.text },
      .json("rate") { job in job.request.ratePerSecond.map { .number($0) } ?? .null },
      .text("actor") { $0.request.actor }.titled("By", heading: "WHO", .wraps),
      .text("why") { $0.request.reason },
      .shown("done").titled("Done", .number) { .count(Int64($0.processed)) },
      .number("total") { Int64($0.total) }.titled("Of"),
      .shown("pace").titled("Pace") { job in
        job.request.ratePerSecond.map { _ in .text(JobDescription.pace(job)) }
      },
    ]
  }

  private static func tail(_ heldApps: [AppSlug]) -> [ListField<Job>] {
    [
      .json("failures") { job in
        .array(
          job.missed.map { missed in
            [
              "outcome": .string(missed.outcome.rawValue), "reason": .optional(missed.reason),
              "count": .integer(Int64(missed.count)),
            ]
          })
      },
      .text("user_id") { $0.request.userID?.text },
      .json("held_apps") { _ in .array(heldApps.map { .string($0.text) }) },
      .number("seconds_left") { $0.secondsLeft.map { Int64(clamping: $0) } }, .text("note") { $0.note },
      .time("created_at") { $0.createdAt }.titled("Begun", heading: "MADE"),
      .time("updated_at") { $0.updatedAt }, .time("ended_at") { $0.endedAt },
    ]
  }
}

extension JobFilter: ListFilter {
  public static var resource: Resource<Job> { JobResource.list() }

  public func read(
    _ reader: StoreReader, limit: Int, now _: Timestamp
  ) throws(StoreFault) -> ListPage<Job, JobID> {
    ListPage(try reader.jobs(self, limit: limit + 1), limit: limit) { $0.id }
  }

  public static let fields: [FilterField<JobFilter>] = [
    .states { $0.states = $1 }
  ]
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

  /// Its emphasis in lists.
  public var tone: Tone {
    switch state {
    case .preparing, .running: .pending
    case .paused: .waiting
    case .done: missed.isEmpty ? .good : .bad
    case .cancelled: .ended
    }
  }
}
