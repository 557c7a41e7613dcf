// The checks of `receiptctl doctor`. A new one is a type in this folder and its place in `DoctorChecks.all`.

internal import Domain
internal import Platform

/// One subject of the page. A check that throws is a failure with the error's text; the other checks go on.
protocol DoctorCheck: Sendable {
  /// Its name on the page and in `--only`.
  static var name: String { get }

  /// What this machine and the database know.
  static func findings(_ scene: DoctorScene) throws -> [DoctorFinding]

  /// Questions to servers; all checks ask at the same time.
  static func probes(_ scene: DoctorScene) throws -> [DoctorProbe]
}

extension DoctorCheck {
  static func findings(_ scene: DoctorScene) throws -> [DoctorFinding] { [] }

  static func probes(_ scene: DoctorScene) throws -> [DoctorProbe] { [] }

  static func ok(_ what: String) -> DoctorFinding { DoctorFinding(.ok, name, what) }

  static func warning(_ what: String, next: String) -> DoctorFinding {
    DoctorFinding(.warning, name, what, next: next)
  }

  static func failure(_ what: String, next: String) -> DoctorFinding {
    DoctorFinding(.failure, name, what, next: next)
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
