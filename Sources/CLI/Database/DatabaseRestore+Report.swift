// What `db restore` reports when the backup is in its place. One thread.

internal import Config
internal import Domain
internal import Formats
internal import SQLiteStore
internal import Store
internal import Terminal

extension DatabaseRestore {
  func json(aside: String?, _ jobs: [HaltedJob]) throws -> JSONValue {
    [
      "database": .string(path), "backup": .string(filePath), "set_aside": .optional(aside),
      "last_event_at": .time(try backup.lastEventAt()),
      "pending": .optional(backup.isCurrent ? try backup.countPending() : nil),
      "schema": .integer(Int64(backup.version)),
      "jobs_paused": .array(jobs.filter(\.canGoOn).map { .string($0.id) }),
      "jobs_cancelled": .array(jobs.filter { !$0.canGoOn }.map { .string($0.id) }),
    ]
  }

  func report(_ aside: String?, _ jobs: [HaltedJob]) throws {
    let last = try backup.lastEventAt()
    let pending = backup.isCurrent ? try backup.countPending() : nil
    if session.isJSON {
      session.output.json(try json(aside: aside, jobs))
      return
    }
    let output = session.output
    output.line("\(DisplayText.clean(path)) is now \(DisplayText.clean(filePath)).")
    if let aside { output.line("The previous database: \(DisplayText.clean(aside))") }
    if let pending, pending > 0 {
      output.line(
        "\(Counted.receipts(Int(pending))) \(pending == 1 ? "is" : "are") due in it; those delivered "
          + "since are sent again.")
    }
    for job in jobs {
      output.line(
        job.canGoOn
          ? "Job \(job.id) was running and is paused: its work after the backup is not in it, and "
            + "would be done "
            + "again. Look at it first, then: receiptctl jobs resume \(job.id)"
          : "Job \(job.id) had not begun and is cancelled; start it again if you still need it.")
    }
    output.line("Start receiptd now.")
    for line in RestoreAdvice.lines(configuration, since: last) { output.line(DisplayText.clean(line)) }
  }
}
