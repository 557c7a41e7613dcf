// The incidents that the sections of the runbook are about, and how operators see each one. Pure.

/// How both faces show an incident while it exists.
struct IncidentSign {
  /// The alert in `receiptctl alerts list --json`, without its limit; nil if no alert is about it, or if
  /// receiptctl cannot read the database meanwhile.
  var alert: String?
  /// Whether the alert counts what happened within a time, also what was corrected since.
  var alertLasts = false
  /// A command of receiptctl, and a part of what it prints.
  var command = "doctor --local"
  var line: String
  /// A page of the dashboard, and a part of it; nil if the dashboard does not answer meanwhile.
  var page: String? = "/"
  var sentence = ""
  /// Whether both faces show it also afterwards, because it is a fact, or a count of the last hour.
  var lasts = false
}

/// A fault that the commands of a section end. The raw value is the section's title.
enum Incident: String, CaseIterable {
  case refusedReceipts = "Receipts fail with 422"
  case refusedCredentials = "Purchasely refuses the credentials"
  case destinationDown = "The destination is down for hours"
  case webPage = "Deliveries are paused with html_answer or error_answer"
  case oneReceipt = "One receipt fails while others pass"
  case missingApp = "An app is missing from the configuration"
  case disputed = "A receipt's context is disputed"
  case unmatched = "A flood of unmatched events"
  case fullDisk = "The disk is full"
  case lostDatabase = "Restore from a backup"
  case movedFile = "The database file is gone"
  case damaged = "The database is damaged"
  case noConnections = "No free connections"
  case wasDown = "receiptd was down"
  case slow = "Deliveries or requests are slow"
  case flood = "An app floods"
  case leakedKey = "A client key leaked"
  case accountChanged = "The Stripe account changed"

  var sign: IncidentSign {
    switch self {
    case .refusedReceipts:
      IncidentSign(
        alert: "receipt_failed", alertLasts: true, command: "failures list", line: "http_422",
        page: "/failed", sentence: "http_422")
    case .refusedCredentials:
      IncidentSign(alert: "breaker_open", line: "(http_401)", sentence: "(http_401)")
    case .destinationDown:
      IncidentSign(alert: "breaker_open", line: "is down (http_503)", sentence: "is down (http_503)")
    case .webPage: IncidentSign(alert: "breaker_open", line: "(html_answer)", sentence: "(html_answer)")
    case .oneReceipt:
      IncidentSign(command: "status", line: "fails while others pass", sentence: "fails while others pass")
    case .missingApp:
      IncidentSign(command: "status", line: "is not configured", sentence: "is not configured")
    case .disputed:
      IncidentSign(
        command: "receipts show sub_jdo-1", line: "disputed", page: "/receipts/\(anyReceipt)",
        sentence: "another purchase names it", lasts: true)
    case .unmatched, .slow, .flood: pending
    case .fullDisk: IncidentSign(line: "the disk is full", sentence: "The disk is full")
    case .lostDatabase, .wasDown: IncidentSign(line: "is not running", page: nil)
    case .movedFile: IncidentSign(line: "FAIL  database", sentence: "The database file was moved or removed")
    case .damaged:
      IncidentSign(
        alert: "corruption", line: "receiptd found damaged pages", sentence: "The database is damaged")
    case .noConnections: IncidentSign(line: "no free connections", sentence: "No free connections")
    case .leakedKey:
      IncidentSign(
        command: "contexts list --app shop --since 1d", line: "intruder-1", page: "/find?q=intruder-1",
        sentence: "ctx_", lasts: true)
    case .accountChanged:
      IncidentSign(
        alert: "signature_failures", command: "status", line: "11 webhooks of shop refused",
        sentence: "11 webhooks of shop refused", lasts: true)
    }
  }

  /// Is replaced by the id of the scene's receipt.
  private var anyReceipt: String { "rcp_00000000000000000000000000" }

  private var pending: IncidentSign {
    let state = self == .unmatched ? "waiting" : "pending"
    return IncidentSign(
      command: "receipts list --state \(state)", line: "sub_jdo-", page: "/receipts?state=\(state)",
      sentence: #"href="/receipts/rcp_"#)
  }
}
