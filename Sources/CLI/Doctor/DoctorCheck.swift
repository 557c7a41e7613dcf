// The checks of `receiptctl doctor`. A new one is a type in this folder and its place in `DoctorChecks.all`.
// What other faces show, too, is in `Daemon/Service/Findings`, and each check shows it first.

internal import Domain
internal import Platform
internal import Service

/// One subject of the page. A check that throws is a failure with the error's text; the other checks go on.
protocol DoctorCheck: Sendable {
  static var subject: Finding.Check { get }

  /// What this machine and the database know.
  static func findings(_ scene: DoctorScene) throws -> [Finding]

  /// Questions to servers; all checks ask at the same time.
  static func probes(_ scene: DoctorScene) throws -> [DoctorProbe]
}

extension DoctorCheck {
  /// Its name on the page and in `--only`.
  static var name: String { subject.rawValue }

  static func findings(_ scene: DoctorScene) throws -> [Finding] { [] }

  static func probes(_ scene: DoctorScene) throws -> [DoctorProbe] { [] }

  /// - Parameters: what it is about; nil for everything that the check looks at.
  static func ok(_ what: String, of app: AppSlug? = nil, at processor: ProcessorName? = nil) -> Finding {
    Finding(line: .ok, subject, what, app: app, processors: processor.map { [$0] } ?? [])
  }

  static func warning(_ what: String, next: String) -> Finding {
    Finding(line: .warning, subject, what, next: next)
  }

  static func failure(_ what: String, next: String) -> Finding {
    Finding(line: .failure, subject, what, next: next)
  }

  /// The command that asks again.
  static func again(_ app: AppSlug? = nil) -> String {
    "receiptctl doctor --only \(name)\(app.map { " --app \($0)" } ?? "")"
  }
}

enum DoctorChecks {
  /// In the order of the page.
  static let all: [any DoctorCheck.Type] = [
    ConfigurationCheck.self, AppliedCheck.self, SecretsCheck.self, ReceiptdCheck.self, ClockCheck.self,
    DiskCheck.self, DatabaseStateCheck.self, WorkCheck.self, BackupCheck.self, CertificateCheck.self,
    AddressCheck.self,
    DestinationCheck.self, ProcessorCheck.self, WebhooksCheck.self, ContextsCheck.self,
    AssociationsCheck.self, AlertsCheck.self,
  ]
}

extension Duration {
  /// In its largest whole unit: `59 s`, `3 d`.
  var span: String { RelativeTime.span(seconds: UInt64(clamping: max(.zero, self).components.seconds)) }
}
