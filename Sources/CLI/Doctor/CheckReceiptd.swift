// `receiptctl doctor`: whether receiptd runs and is ready. One thread.

internal import Config
internal import Domain
internal import Platform
internal import Reports
internal import Service

enum ReceiptdCheck: DoctorCheck {
  static let subject = Finding.Check.receiptd
  private static let start = "systemctl start receiptd"

  static func findings(_ scene: DoctorScene) -> [Finding] {
    guard let health = scene.health else {
      // The database check says why there is no more to see.
      guard scene.configuration.database.filePath != nil else { return [] }
      guard let daemon = scene.session.daemon(scene.configuration) else {
        return [failure("is not running, or this user may not see its lock", next: start)]
      }
      return [ok("runs (\(daemon.place))")]
    }
    let last = health.lastReport.map { "; it last reported \($0.past(to: scene.now))" } ?? ""
    guard health.isRunning else {
      return [failure("is not running: nothing is accepted and nothing is delivered\(last)", next: start)]
    }
    guard let report = health.report else {
      return [warning("runs, and has not reported yet", next: again())]
    }
    guard !health.isSilent else {
      return [
        failure(
          "is stuck, or cannot write to the database\(last)",
          next: "See its log and the disk: systemctl status receiptd")
      ]
    }
    guard report.isReady else { return [] }
    guard report.version == Version.number else {
      return [
        warning(
          "is version \(report.version), and receiptctl is \(Version.number)",
          next: ReloadReport.restartCommand)
      ]
    }
    let place = health.daemon.map { " (\($0.place))" } ?? ""
    let ready = ok(
      "is ready\(place), version \(report.version), started \(report.startedAt.past(to: scene.now))")
    guard let served = report.loweredConnections else { return [ready] }
    return [
      ready,
      warning(
        "serves at most \(served) connections, less than limits.connections: it may open too few files",
        next:
          "Raise LimitNOFILE= of the service, or lower limits.connections, then: systemctl restart receiptd"),
    ]
  }
}
