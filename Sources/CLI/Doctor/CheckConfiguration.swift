// `receiptctl doctor`: the configuration file, and whether receiptd uses it. One thread.

internal import Config
internal import Domain
internal import Platform
internal import Reports
internal import Service
internal import Store

/// Whether receiptd would accept the file.
enum ConfigurationCheck: DoctorCheck {
  static let subject = Finding.Check.configuration
  private static let next = "receiptctl config check"

  static func findings(_ scene: DoctorScene) -> [Finding] {
    guard scene.faults.isEmpty else { return findings(of: scene.faults) }
    let warnings = scene.warnings + scene.configuration.databaseWarnings
    guard warnings.isEmpty else { return warnings.map { warning($0.description, next: next) } }
    return [ok("\(CountText.of(scene.configuration.apps.count, "app")), no faults")]
  }

  /// - Parameter faults: at least one.
  static func findings(of faults: [Fault]) -> [Finding] {
    let first = faults.first?.description ?? ""
    return [
      failure(
        faults.count == 1 ? first : "\(CountText.of(faults.count, "fault")), the first: \(first)",
        next: next)
    ]
  }
}

/// Whether receiptd uses what is in the file.
enum AppliedCheck: DoctorCheck {
  static let subject = Finding.Check.applied

  static func findings(_ scene: DoctorScene) throws -> [Finding] {
    // The database check says why its server cannot be asked.
    if scene.configuration.database.filePath == nil {
      return scene.reader == nil ? [] : try relays(scene)
    }
    // The receiptd check says that there is no report.
    guard let report = scene.health?.report else { return [] }
    // A file with faults has no digest to compare; the configuration check reports them.
    guard !scene.configuration.isPartial, report.refusedReload == nil, report.needsRestart.isEmpty
    else { return [] }
    guard let digest = report.configurationDigest, digest != scene.configuration.digest else {
      return [ok("receiptd uses this file (configuration \(report.generation))")]
    }
    return [
      warning(
        "the file differs from what receiptd uses (configuration \(report.generation))",
        next: "receiptctl reload")
    ]
  }

  /// Several relays may share the database of a server.
  private static func relays(_ scene: DoctorScene) throws -> [Finding] {
    guard !scene.configuration.isPartial,
      let running = try scene.session.instances(scene.configuration)?.running, !running.isEmpty
    else {
      return []
    }
    let others = running.filter { $0.configuration != scene.configuration.digest }
    guard let other = others.first else {
      guard Set(running.map(\.secrets)).count == 1 else {
        return [
          warning(
            "the relays have the same configuration, but different secrets: some refuse what others accept",
            next: "Give each machine the same secrets, and there: systemctl reload receiptd")
        ]
      }
      return [ok("\(CountText.of(running.count, "relay")) with this configuration")]
    }
    return [
      warning(
        "\(others.count) of \(CountText.of(running.count, "relay")) \(others.count == 1 ? "has" : "have") "
          + "another configuration, such as the one on \(other.host)",
        next: "Give each machine the same file, and there: systemctl reload receiptd")
    ]
  }
}
