// What `db restore` says about a backup before it asks.

internal import Domain
internal import Platform
internal import SQLiteStore
internal import Terminal

extension BackupFile {
  /// Says whether a sound backup is what the operator expects.
  func describe(at path: String, to session: Session) throws {
    let name = DisplayText.clean(path)
    let last = try lastEventAt()
    let event = last.map { "its last event is of \($0.text) (\(session.relative($0)))" } ?? "it has no events"
    let schema = isCurrent ? "" : ", schema version \(version), which receiptd migrates at its start"
    session.output.note("\(name) is sound; \(event)\(schema).")
    if try lacksDictionaries() {
      session.output.note(
        "But a dictionary for compressed bodies is missing or damaged in it: some events, receipts or "
          + "contexts cannot be read. Prefer another backup.")
    }
    let jobs = try activeJobs()
    if !jobs.isEmpty {
      session.output.note(
        "\(CountText.of(jobs.count, "job")) \(jobs.count == 1 ? "was" : "were") running when it was made; "
          + "none resumes automatically after the restore.")
    }
  }
}
