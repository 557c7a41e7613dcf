// `receiptctl doctor`: who can read the secrets, and how old they are. Shows no value (R7). One thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Service
internal import Terminal

enum SecretsCheck: DoctorCheck {
  static let subject = Finding.Check.secrets
  /// A secret that nobody replaced for that long has been seen by many.
  private static let ageMax: Duration = .days(365)
  /// Long enough for every event that was signed with the old secret.
  private static let rotationTime: Duration = .days(3)

  static func findings(_ scene: DoctorScene) -> [Finding] {
    let secrets = scene.configuration.secrets
    var findings = unreadable(secrets) + openFiles(secrets)
    let inPlace = secrets.filter { $0.secret.source == .inPlace }
    if let first = inPlace.first {
      findings.append(
        warning(
          "\(inPlace.count) of \(CountText.of(secrets.count, "secret")) \(inPlace.count == 1 ? "is" : "are") "
            + "written in the configuration itself, such as \(first.path)",
          next: "Move each to a file that only the service may read, write \"file:/path\", then: "
            + "receiptctl reload"))
    }
    let ages = secrets.compactMap { entry in age(of: entry.secret, scene.now).map { (entry.path, $0) } }
    let oldest = ages.max { $0.1 < $1.1 }
    if let oldest, oldest.1 > ageMax {
      findings.append(
        warning(
          "\(oldest.0) was not replaced for \(oldest.1.span)",
          next: "Replace it where it was issued and here, then: receiptctl reload"))
    }
    findings += scene.apps.flatMap { rotations(of: $0, scene.now) }
    guard findings.isEmpty else { return findings }
    let files = Set(secrets.compactMap { file(of: $0.secret) }).count
    let last = oldest.map { ", the oldest \($0.1.span)" } ?? ""
    return [ok("\(CountText.of(secrets.count, "secret")), \(CountText.of(files, "file"))\(last)")]
  }

  /// Without one of them, receiptd refuses the configuration, so its earlier one stays in use.
  private static func unreadable(_ secrets: [Configuration.SecretEntry]) -> [Finding] {
    let faults = secrets.compactMap { entry -> Fault? in
      do throws(Fault) {
        _ = try entry.secret.reveal()
        return nil
      } catch {
        return error
      }
    }
    guard let first = faults.first else { return [] }
    return [
      failure(
        "\(faults.count) of \(CountText.of(secrets.count, "secret")) cannot be used, such as \(first)",
        next: "When receiptd can read them all: receiptctl reload; those of its environment and systemd's "
          + "credentials need a restart")
    ]
  }

  /// The path of a secret's file that the operator keeps. systemd keeps the files of its credentials.
  private static func file(of secret: Secret) -> String? {
    guard case .file(let path) = secret.source, !secret.isFixedUntilRestart else { return nil }
    return path
  }

  private static func age(of secret: Secret, _ now: Timestamp) -> Duration? {
    file(of: secret).flatMap { FileAge(path: $0) }.map {
      max(.zero, now.duration(since: Timestamp(unixMilliseconds: $0.changedAt)))
    }
  }

  private static func openFiles(_ secrets: [Configuration.SecretEntry]) -> [Finding] {
    let open = Set(secrets.compactMap { file(of: $0.secret) })
      .filter { FileAge(path: $0)?.isOpenToAll == true }
    return open.sorted().map { path in
      failure("all users of this machine can read \(path)", next: "chmod o-rwx \(ShellWord.quoted(path))")
    }
  }

  /// An old secret is still accepted although the new one works.
  private static func rotations(of app: AppConfiguration, _ now: Timestamp) -> [Finding] {
    app.processors.compactMap { processor in
      let secrets = processor.section.webhookSecrets
      let ages = secrets.compactMap { age(of: $0, now) }
      guard secrets.count > 1, ages.count == secrets.count, let newest = ages.min(), newest > rotationTime
      else { return nil }
      return warning(
        "\(app.slug) accepts \(CountText.of(secrets.count, "secret")) of \(processor.name), the newest for "
          + "\(newest.span): the replacement was not finished",
        next: "Remove the old one at the processor and here, then: receiptctl reload")
    }
  }
}
