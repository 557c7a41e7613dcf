// Completes a receipt: the committer first tries it without keeping anything, and the second form changes it.

internal import Domain
internal import Formats
internal import HTTPServer
internal import Reports
internal import Service
internal import Store

extension Dashboard {
  /// The button of the second form.
  private static let saveField = "save"

  var completeRoutes: [Route] {
    [
      page("/receipts/{receipt}/complete") { dashboard, visit throws(Refusal) in
        try dashboard.completion(ReceiptID(visit["receipt"] ?? "")).page
      },
      post("/receipts/{receipt}/complete") { dashboard, visit, form, exchange throws(Refusal) in
        try dashboard.complete(ReceiptID(visit["receipt"] ?? ""), form, visit.visitor, exchange)
      },
    ]
  }

  private static func purpose(_ id: ReceiptID) -> String { "receipts complete \(id)" }

  private func completion(_ id: ReceiptID) throws(Refusal) -> CompletePage {
    let now = now
    let found = try read { source throws(StoreFault) -> (PurchaseRecord, [ContextSummary])? in
      guard let record = try source.reader.receipt(id: id), record.receipt != nil else { return nil }
      guard let user = record.purchase.userID else { return (record, []) }
      var filter = ContextFilter()
      (filter.app, filter.userID) = (record.app, user)
      let contexts = try source.reader.contexts(filter, now: now, limit: 2 * CompletePage.contextsMax)
      return (record, Array(contexts.filter { $0.state == .open }.prefix(CompletePage.contextsMax)))
    }
    guard let (record, contexts) = found else { throw .problem(.unknownReceipt) }
    guard apps.current[record.app] != nil else { throw .problem(.unknownApp) }
    return CompletePage(
      record: record, id: id, contexts: contexts, token: tokens.token(for: Self.purpose(id)), now: now)
  }

  private func complete(
    _ id: ReceiptID, _ form: AdminForm, _ visitor: String, _ exchange: Exchange
  ) throws(Refusal) {
    try check(form, for: Self.purpose(id))
    var page = try completion(id)
    for name in ["user", "price", "context"] {
      guard let text = form[name], UntrustedText.identifier(text) == nil else { continue }
      page.complaint =
        "The \(name) must be 1 to \(UntrustedText.identifierBytesMax) bytes without control characters."
      return exchange.answer(page.page.response)
    }
    let typed = CompletePage.Typed(
      user: form["user"].map { UserID(UntrustedText.trimmed($0)) }, price: form["price"].map(PriceID.init),
      context: form["context"].map(ContextID.init), replaces: form["replace"] == "yes")
    page.typed = typed
    let command = CompleteReceipt(
      id: id, userID: typed.user, priceID: typed.price, contextID: typed.context, force: typed.replaces)
    let record = page.record
    guard form[Self.saveField] == "yes" else { return preview(command, page, exchange) }
    let details = CompletionText.details(
      record.purchase, user: typed.user, price: typed.price, context: typed.context)
    let entry = AuditEntry(
      at: now, actor: visitor, action: "receipts complete", app: record.app, subject: id.text,
      reason: form["why"], details: details.text)
    apply(Audited(command) { $0 == .done ? entry : nil }, app: record.app, exchange) { outcome in
      outcome == .done
        ? .success(Link("receipts", id.text, query: [("done", "complete")])) : .failure(.refused(outcome))
    }
  }

  private func preview(_ command: CompleteReceipt, _ page: CompletePage, _ exchange: Exchange) {
    submit(PreviewCompletion(command), app: page.record.app, exchange) { outcome in
      guard let planned = outcome.record else {
        var again = page
        again.complaint = CompletePage.complaint(outcome.result)
        return .page(again.page)
      }
      return .page(Self.confirmation(page, planned).page)
    }
  }

  private static func confirmation(_ page: CompletePage, _ planned: PurchaseRecord) -> ConfirmationPage {
    let typed = page.typed
    let hidden: [(name: String, value: String?)] = [
      (tokenField, page.token), ("user", typed.user?.text), ("price", typed.price?.text),
      ("context", typed.context?.text), ("replace", typed.replaces ? "yes" : nil), (saveField, "yes"),
    ]
    let isGuess = planned.purchase.contextSource == .guess
    return ConfirmationPage(
      title: "Send it with these values?", place: .receipts,
      text: [
        isGuess
          ? "It is due at once. The context is a guess: compare its price and its time with the purchase."
          : "It is due at once."
      ],
      facts: CompletionText.plan(planned), button: "Complete and send", needsReason: false,
      target: Link("receipts", page.id.text, "complete"),
      hidden: hidden.compactMap { name, value in value.map { (name: name, value: $0) } },
      back: Link("receipts", page.id.text, "complete"))
  }
}
