// The page of `receiptctl doctor` as values, and the rules that hold for each of its lines.

import Formats
import FoundationEssentials
import Service
import Terminal
import Testing

@testable import CLI

/// The result of one run.
struct DoctorPage {
  let code: ExitCode
  let findings: [Finding]

  /// The environment of the harness's configuration.
  static let environment = [
    "WEBHOOK_SECRET": "whsec_very-secret-1", "API_KEY": "very-secret-2",
    "NOTICES": "https://hooks.example.com/very-secret-3",
  ]

  init(_ harness: OperatorHarness, _ arguments: String...) throws {
    let ran = harness.run(arguments: ["doctor", "--json"] + arguments, environment: DoctorPage.environment)
    #expect(!"\(ran.out)\(ran.notes)".contains("very-secret"), "no secret is shown (R7)")
    code = ran.code
    findings = try ran.objects.map { object in
      let level = try #require(object["level"]?.stringValue.flatMap(Finding.Level.init))
      return Finding(
        line: level, try #require(object["check"]?.stringValue.flatMap(Finding.Check.init)),
        try #require(object["what"]?.stringValue), next: object["next"]?.stringValue)
    }
    #expect(code == (findings.contains { $0.level == .failure } ? .failed : .done), "\(ran)")
    for finding in findings {
      #expect((finding.next == nil) == (finding.level == .ok), "\(finding)")
      if let next = finding.next { #expect(Self.hasCommand(next), "\(next)") }
    }
  }

  /// The findings of one check.
  func of(_ check: Finding.Check) -> [Finding] { findings.filter { $0.check == check } }

  func expect(
    _ level: Finding.Level, _ check: Finding.Check, _ part: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(
      of(check).contains { $0.level == level && $0.what.contains(part) }, "\(findings)",
      sourceLocation: sourceLocation)
  }

  /// Whether a text names a command that exists.
  static func hasCommand(_ text: String) -> Bool {
    let others = ["systemctl ", "timedatectl ", "chmod ", "curl ", "find / ", "lsof "]
    if others.contains(where: text.contains) { return true }
    let words = text.split(separator: " ").map { $0.filter { $0.isLetter || $0 == "-" } }
    return words.indices.contains { index in
      words[index] == "receiptctl"
        && CommandTable.verbs.contains { words[(index + 1)...].starts(with: $0.spec.path) }
    }
  }
}

extension OperatorHarness {
  /// Writes a configuration that the doctor has nothing to say about.
  func configureWell(_ app: String = "", root: String = "") throws {
    let (stripe, key) = (folder + "/stripe", folder + "/key")
    try write("whsec_very-secret-stripe", to: stripe)
    try write("very-secret-key", to: key)
    try configure { _ in
      """
      { database: '\(databasePath)', listen: { port: 1 }, \(root)
        alerts: [{ to: 'env:NOTICES', on: ['breaker_open'] }], heartbeat: { to: 'env:NOTICES' },
        apps: { ios: { client: 'open', \(app)
          stripe: { webhook_secrets: ['file:\(stripe)'] }, purchasely: { api_key: 'file:\(key)' },
          join: { wait_for_context: '0s' } } } }
      """
    }
  }

  /// Writes a secret that is as old as the harness's clock.
  func write(_ secret: String, to path: String) throws {
    let created = FileManager.default.createFile(
      atPath: path, contents: Data(secret.utf8), attributes: [.posixPermissions: 0o600])
    try #require(created)
    try FileManager.default.setAttributes([.modificationDate: date(0)], ofItemAtPath: path)
  }

  /// A time before that of the harness's clock.
  func date(_ age: TimeInterval) -> Date {
    Date(timeIntervalSince1970: Double(clock.wallMilliseconds) / 1000 - age)
  }
}
