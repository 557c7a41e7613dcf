// What the forms that change something have in common: the token, the reason, and the entry of the audit.

internal import Domain
internal import Formats
internal import Reports
internal import Store

/// A change that a form asks for.
struct FormChange {
  /// What the form's token is for.
  let purpose: String
  /// In the audit.
  let action: String
  var app: AppSlug?
  /// In the audit; nil if the change is about the app, or about a group of receipts.
  var subject: String?
  let place: DashboardPage.Place
  /// The path of the form.
  let target: Link
  /// Where the operator came from.
  let back: Link
}

extension AdminForm {
  static let whyComplaint = "Say why, in a few words."

  /// The operator's reason; nil if there is none.
  var why: String? { self["why"].flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 } }
}

extension Dashboard {
  /// The page that asks before a change.
  /// - Parameter hidden: fields that the form sends back, besides its token.
  func question(
    _ change: FormChange, title: String, text: [String], button: String, needsReason: Bool = false,
    hidden: [(name: String, value: String)] = [], fields: [ConfirmationPage.Field] = [],
    complaint: String? = nil
  ) -> ConfirmationPage {
    ConfirmationPage(
      title: title, place: change.place, text: text, button: button, needsReason: needsReason,
      target: change.target,
      hidden: [(name: Self.tokenField, value: tokens.token(for: change.purpose))] + hidden, fields: fields,
      back: change.back, complaint: complaint)
  }

  /// The change in the audit.
  func entry(
    _ change: FormChange, _ form: AdminForm, _ visitor: String, _ details: JSONValue = [:]
  ) -> AuditEntry {
    AuditEntry(
      at: now, actor: visitor, action: change.action, app: change.app, subject: change.subject,
      reason: form.why, details: details.text)
  }
}
