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
    guard let report = try reader.serviceReport(.backup) else {
      // A server may have backups that nobody recorded here.
      return path == nil
        ? [warning("none was recorded", next: server)] : [failure("none was made", next: file)]
    }
    let age = scene.now.duration(since: report.at)
    let made = "the last one was made \(report.at.past(to: scene.now))"
    let next = path == nil ? server : file
    if age > ageMax { return [failure(made, next: next)] }
    if age > ageGood { return [warning(made, next: next)] }
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
