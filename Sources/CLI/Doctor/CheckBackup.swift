// `receiptctl doctor`: how old the last backup is. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Service
internal import Reports
internal import Store

enum BackupCheck: DoctorCheck {
  static let subject = Finding.Check.backup
  /// A nightly backup is at most that old.
  private static let ageGood: Duration = .hours(26)
  private static let ageMax: Duration = .days(8)
  private static let file = "receiptctl db backup /var/backups/receiptd/receiptd-$(date -I).db"
  private static let server = "After each pg_dump: receiptctl db backup --record FILE"

  static func findings(_ scene: DoctorScene) throws -> [Finding] {
    guard let reader = scene.reader else { return [] }
    let path = scene.configuration.database.filePath
    let stored = try reader.serviceReport(.backup)
    let limit = scene.configuration.backup.map { $0.every * 2 } ?? ageGood
    // What is wrong with scheduled backups is on the page already.
    let isKnown = scene.findings.contains { $0.check == subject }
    if !isKnown, var old = Finding.backup(stored, limit: limit, now: scene.now) {
      // A server may have backups that nobody recorded here.
      let isFailure = stored.map { scene.now.duration(since: $0.at) > ageMax } ?? (path != nil)
      (old.level, old.next) = (isFailure ? .failure : .warning, path == nil ? server : file)
      return [old]
    }
    guard let report = stored else { return [] }
    let made = "the last one was made \(report.at.past(to: scene.now))"
    if let path, isOnDisk(of: path, report) {
      return [
        warning(
          "\(made), on the disk of the database, which would lose both",
          next: "Copy it to another machine, or name another disk: \(file)")
      ]
    }
    return [ok(made)]
  }

  private static func isOnDisk(of database: String, _ report: ServiceReport) -> Bool {
    // A report that is no JSON names no file.
    guard let content = try? JSONValue(parsing: Array(report.content.utf8)),
      let backup = content["file"]?.stringValue.flatMap({ FileIdentity(path: $0) }),
      let own = FileIdentity(path: database)
    else { return false }
    return backup.device == own.device
  }
}
