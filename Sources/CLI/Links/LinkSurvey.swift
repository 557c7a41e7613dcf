// The association files that receiptd serves, as `receiptctl links check` shows them.

internal import Config
internal import Domain
internal import Formats
internal import Terminal

/// The association files of several hosts.
struct LinkSurvey {
  private let hosts: [AssociationFiles]

  init(_ hosts: [AssociationFiles]) { self.hosts = hosts }

  /// Shows each host, its files and their rules.
  func show(_ session: Session) {
    let output = session.output
    for (index, files) in hosts.enumerated() {
      for finding in files.findings { output.note("note: \(DisplayText.clean(finding.line))") }
      if session.isJSON {
        output.json(json(files))
        continue
      }
      if index > 0 { output.line() }
      output.line(Style.bold.applied(to: DisplayText.clean(files.host), inColour: output.isInColour))
      output.line("  apps  \(files.slugs.map(\.text).joined(separator: ", "))")
      output.line("  apple-app-site-association  \(size(files.apple.json))")
      for entry in files.apple.links?.entries ?? [] {
        output.line("    \(DisplayText.clean(entry.appID ?? ""))")
        for path in entry.paths ?? [] { output.line("      \(DisplayText.clean(path))") }
        if entry.paths?.isEmpty ?? true { output.line("      no path: it opens nothing") }
      }
      if let apps = files.apple.webCredentials {
        output.line("    passwords for \(apps.map(DisplayText.clean).joined(separator: ", "))")
      }
      output.line("  assetlinks.json  \(size(files.android.json))")
      for statement in files.android.statements {
        output.line("    \(statement.package.text)")
        for fingerprint in statement.fingerprints { output.line("      \(fingerprint.text)") }
      }
    }
  }

  private func size(_ file: JSONValue) -> String { "\(file.serialized().count) bytes" }

  private func json(_ files: AssociationFiles) -> JSONValue {
    let apple = files.apple.json
    let android = files.android.json
    return [
      "host": .string(files.host), "apps": .array(files.slugs.map { .string($0.text) }),
      "apple": ["bytes": .integer(Int64(apple.serialized().count)), "file": apple],
      "android": ["bytes": .integer(Int64(android.serialized().count)), "file": android],
      "findings": .array(files.findings.map(\.json)),
    ]
  }
}
