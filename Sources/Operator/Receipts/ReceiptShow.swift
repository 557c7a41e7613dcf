// `receipts show`: all that is known of one receipt, for a person who was woken by it.

internal import Domain
internal import Platform
internal import Store
internal import Terminal

enum ReceiptShow {
  /// Changes by persons, the newest; nobody touches one receipt more often by hand.
  private static let personsMax = 200

  static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    let id = session.command.positionals[0]
    guard let detail = try reader.detail(receipt: id), let receipt = detail.record.receipt else {
      throw ReceiptsNoun.unknown([id])
    }
    var ofReceipt = AuditFilter()
    ofReceipt.subject = id
    let audit = try reader.audit(ofReceipt, limit: personsMax)
    let jobs = try reader.jobs(ofPurchase: detail.record.rowID)
    if session.isJSON {
      session.output.json(ReceiptJSON.detail(of: detail, audit: audit, jobs: jobs))
      return .done
    }
    let breaker = try reader.breakers()[detail.record.app]
    let output = session.output
    output.line(Style.bold.applied(to: DisplayText.clean(receipt.id), inColour: output.isInColour))
    for (name, value) in facts(detail, receipt) {
      let style = name == "state" ? receipt.state.style : .plain
      let shown = style.applied(to: DisplayText.clean(value), inColour: output.isInColour)
      output.line("  \(DisplayText.padded(name, to: 9)) \(shown)")
    }
    output.line()
    output.table(ReceiptTimeline(detail, receipt, audit: audit, jobs: jobs).table(session))
    output.line()
    for line in ReceiptAdvice(detail.record, receipt, breaker: breaker, session).lines { output.line(line) }
    return .done
  }

  private static func facts(_ detail: ReceiptDetail, _ receipt: Receipt) -> [(String, String)] {
    let purchase = detail.record.purchase
    var facts = [
      ("state", receipt.state.rawValue + (receipt.reason.map { " (\($0.text))" } ?? "")),
      ("app", detail.record.app),
      ("user", purchase.userID.map { "\($0)\(source(purchase.userSource))" } ?? "not known"),
      ("purchase", "\(purchase.key.type.rawValue) \(purchase.key.id)"),
    ]
    if let session = purchase.sessionID, session != purchase.key.id { facts.append(("checkout", session)) }
    if let customer = purchase.customerID { facts.append(("customer", customer)) }
    facts.append(("price", price(purchase, receipt)))
    facts.append(
      ("context", purchase.contextID ?? (purchase.context == nil ? "none" : "came inside of the event")))
    if let importID = receipt.importID { facts.append(("import id", importID)) }
    facts.append(("tries", tries(receipt)))
    if let note = receipt.note { facts.append(("note", note)) }
    return facts
  }

  private static func price(_ purchase: Purchase, _ receipt: Receipt) -> String {
    guard let price = receipt.priceID ?? purchase.prices.first else { return "not known" }
    guard receipt.priceMismatch, let named = purchase.context?.priceID else { return price }
    return "\(price) (the context names \(named))"
  }

  private static func tries(_ receipt: Receipt) -> String {
    let last = receipt.lastStatus.map { ", the last answer was \($0)" } ?? ""
    return "\(receipt.attempts)\(last)"
  }

  private static func source(_ source: Purchase.UserSource?) -> String {
    switch source {
    case .byOperator: " (said by an operator)"
    case .context: " (of the context)"
    case .reference: " (the checkout's client_reference_id)"
    case .metadata: " (from the metadata)"
    case .customer: " (seen before with this customer)"
    case nil: ""
    }
  }
}
