// Completes or corrects a receipt: the committer first tries it without keeping anything, and the second form
// changes it.

internal import Domain
internal import Formats
internal import HTTPServer
internal import Reports
internal import Service
internal import Store

extension Dashboard {
  /// The button of the second form.
  static let saveField = "save"

  func action(_ supply: Supply) -> OperatorAction {
    OperatorAction(
      "/receipts/{receipt}/\(supply.rawValue)", supply.title,
      [
        .init("user", "Your id of the user"), .init("price", "The price that was paid"),
        .init("context", "An open context"),
      ]
        + (supply == .correct
          ? [.whyRequired] : [.init("replace", "Whether a known user or price is replaced", .flag), .why]),
      ask: nil,
      page: { dashboard, visit throws(Refusal) in
        try dashboard.page(supply, ReceiptID(visit["receipt"] ?? "")).page
      },
      change: { dashboard, visit, form, exchange throws(Refusal) in
        try dashboard.supply(supply, ReceiptID(visit["receipt"] ?? ""), form, visit.visitor, exchange)
      })
  }

  private static func purpose(_ supply: Supply, _ id: ReceiptID) -> String {
    "receipts \(supply.rawValue) \(id)"
  }

  private func page(_ supply: Supply, _ id: ReceiptID) throws(Refusal) -> SupplyPage {
    let now = now
    let found = try read { source throws(StoreFault) -> (PurchaseRecord, [ContextSummary])? in
      guard let record = try source.reader.receipt(id: id), record.receipt != nil else { return nil }
      guard let user = record.purchase.userID else { return (record, []) }
      var filter = ContextFilter()
      (filter.app, filter.userID) = (record.app, user)
      let contexts = try source.reader.contexts(filter, now: now, limit: 2 * SupplyPage.contextsMax)
      return (record, Array(contexts.filter { $0.state == .open }.prefix(SupplyPage.contextsMax)))
    }
    guard let (record, contexts) = found else { throw .problem(.unknownReceipt) }
    guard apps.current[record.app] != nil else { throw .problem(.unknownApp) }
    return SupplyPage(
      supply: supply, record: record, id: id, contexts: contexts,
      token: tokens.token(for: Self.purpose(supply, id)), now: now)
  }

  private func supply(
    _ supply: Supply, _ id: ReceiptID, _ form: AdminForm, _ visitor: String, _ exchange: Exchange
  ) throws(Refusal) {
    try check(form, for: Self.purpose(supply, id))
    var page = try page(supply, id)
    page.type(form)
    if let user = page.typed.user, case .refused? = apps.current[page.record.app]?.userIDs.read(user.text) {
      page.complaint = SupplyPage.Complaint(
        field: "user", text: "This is a placeholder or the id of a context, and no user of this app.")
    }
    guard page.complaint == nil else { return answer(.values(page), exchange) }
    let isSaved = form[Self.saveField] == "yes"
    // What was known by the time of the preview; what came in between is not replaced. A program says itself
    // what it replaces.
    if isSaved || isProgram { page.typed.replaces = form["replace"] == "yes" }
    guard isSaved, supply == .complete || form.why != nil else {
      return preview(page, isSaved ? AdminForm.whyComplaint : nil, exchange)
    }
    let (record, typed) = (page.record, page.typed)
    let details = CompletionText.details(
      record.purchase, user: typed.user, price: typed.price, context: typed.context)
    let entry = AuditEntry(
      at: now, actor: visitor, action: "receipts \(supply.rawValue)", app: record.app, subject: id.text,
      reason: form["why"], details: details.text)
    let change: ReceiptChange = supply == .complete ? .complete(page.completion) : .correct(page.correction)
    apply(Audited(change) { $0 == .done ? entry : nil }, app: record.app, exchange) { outcome in
      outcome == .done
        ? .success(Link("receipts", id.text, query: [("done", supply.rawValue)]))
        : .failure(.refused(outcome))
    }
  }

  /// Shows what would be sent, or the form again.
  private func preview(_ page: SupplyPage, _ complaint: String?, _ exchange: Exchange) {
    let routes = apps.current[page.record.app]?.routes ?? []
    let answer = { @Sendable (outcome: PreviewCompletion.Outcome) -> ChangeAnswer in
      guard let planned = outcome.record else {
        if isProgram { return .problem(.refused(outcome.result)) }
        var again = page
        again.complaint = SupplyPage.complaint(outcome.result)
        return .values(again)
      }
      let advice = routes.first { $0.name == planned.receipt?.destination }?.advice
      return .question(page.confirmation(planned, advice, save: Self.saveField, complaint))
    }
    switch page.supply {
    case .complete:
      submit(PreviewCompletion(page.completion), app: page.record.app, exchange, answer: answer)
    case .correct:
      submit(PreviewCorrection(page.correction), app: page.record.app, exchange, answer: answer)
    }
  }
}

extension SupplyPage {
  fileprivate var completion: CompleteReceipt {
    CompleteReceipt(
      id: id, userID: typed.user, priceID: typed.price, contextID: typed.context, force: typed.replaces)
  }

  fileprivate var correction: CorrectReceipt {
    CorrectReceipt(id: id, userID: typed.user, priceID: typed.price, contextID: typed.context)
  }

  /// The second form.
  /// - Parameter advice: that of the destination.
  fileprivate func confirmation(
    _ planned: PurchaseRecord, _ advice: DestinationAdvice?, save: String, _ complaint: String?
  ) -> ConfirmationPage {
    let hidden: [(name: String, value: String?)] = [
      (Dashboard.tokenField, token), ("user", typed.user?.text), ("price", typed.price?.text),
      ("context", typed.context?.text), ("replace", typed.replaces ? "yes" : nil), (save, "yes"),
    ]
    var text = ["It is due at once."]
    if planned.purchase.contextSource == .guess {
      text[0] += " The context is a guess: compare its price and its time with the purchase."
    }
    if supply == .correct, let advice { text.append(advice.secondReceipt) }
    return ConfirmationPage(
      title: supply.question, place: .receipts, text: text,
      facts: CompletionText.difference(record, planned), button: supply.button,
      needsReason: supply == .correct, target: Link("receipts", id.text, supply.rawValue),
      hidden: hidden.compactMap { name, value in value.map { (name: name, value: $0) } },
      back: Link("receipts", id.text, supply.rawValue), complaint: complaint)
  }
}
