// Groups of failures: acknowledge them, and open them again.

internal import Domain
internal import Formats
internal import HTTPServer
internal import Reports
internal import Service
internal import Store

/// What an operator can note about a group of failures.
enum FailureChange: String, Sendable, CaseIterable {
  case acknowledge, reopen

  var label: String { self == .acknowledge ? "Acknowledge" : "Open again" }

  func purpose(_ group: FailureGroup) -> String {
    "failures \(rawValue) \(group.app) \(group.processor) \(group.reason) \(group.cause ?? "")"
  }
}

extension Dashboard {
  private func formChange(_ group: FailureGroup, _ change: FailureChange) -> FormChange {
    FormChange(
      purpose: change.purpose(group),
      action: change == .acknowledge ? "failures ack" : "failures reopen", app: group.app, place: .failed,
      target: Link("failed", change.rawValue), back: Link("failed"))
  }

  func confirmation(
    group: FailureGroup, _ change: FailureChange, owner: String? = nil, complaint: String? = nil
  ) -> ConfirmationPage {
    let asked = formChange(group, change)
    let hidden: [(name: String, value: String)] = [
      ("app", group.app.text), ("processor", group.processor.text), ("reason", group.reason),
      ("cause", group.cause ?? ""),
    ]
    let what =
      "\(PageParts.counted(group.count, "receipt")) of \(group.app), paid by \(group.processor), failed for "
      + "\(group.reason) (\(Reason(group.reason).meaning))."
    switch change {
    case .acknowledge:
      return question(
        asked, title: "Acknowledge this group?",
        text: [what, "It stays quiet until more receipts fail. A replay that empties it resolves it."],
        button: "Acknowledge", hidden: hidden,
        fields: [
          ConfirmationPage.Field(
            name: "owner", label: "Who takes care of it", value: owner ?? "",
            help: "A name that your colleagues know. No data of a user.", isRequired: true)
        ], complaint: complaint)
    case .reopen:
      return question(
        asked, title: "Open this group again?", text: [what], button: "Open again", hidden: hidden,
        complaint: complaint)
    }
  }

  func change(
    _ change: FailureChange, _ form: AdminForm, _ visitor: String, _ exchange: Exchange
  ) throws(Refusal) {
    let group = try group(form)
    let asked = formChange(group, change)
    try check(form, for: asked.purpose)
    let details = JSONValue.object([
      .init(name: "reason", value: .string(group.reason)),
      .init(name: "cause", value: .optional(group.cause)),
      .init(name: "processor", value: .string(group.processor.text)),
    ])
    let entry = entry(asked, form, visitor, details)
    let filter = FailureChoice(
      processor: group.processor, reason: group.reason, cause: group.cause ?? "")
    switch change {
    case .acknowledge:
      guard let owner = form["owner"], !owner.allSatisfy(\.isWhitespace) else {
        let page = confirmation(group: group, change, complaint: "Say who takes care of it.").page
        return exchange.answer(page.response)
      }
      let command = AcknowledgeFailures(
        app: group.app, filter, owner: String(owner.prefix(100)), note: form.why ?? "", actor: visitor)
      apply(Audited(command) { $0 == 0 ? nil : entry }, app: group.app, exchange) { _ in
        .success(asked.back)
      }
    case .reopen:
      let command = ReopenFailures(app: group.app, filter)
      apply(Audited(command) { $0 == 0 ? nil : entry }, app: group.app, exchange) { _ in
        .success(asked.back)
      }
    }
  }
}
