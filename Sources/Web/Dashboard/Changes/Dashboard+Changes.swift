// Changes from the dashboard: each needs a confirmation and a form token, and is recorded in the audit with
// its actor. The committer applies it; the answer follows the sync (R1).

internal import Config
internal import Domain
internal import Formats
internal import HTTPServer
internal import Platform
internal import Reports
internal import Service
internal import Store

extension Dashboard {
  static let tokenField = "token"

  // MARK: Confirmation

  func confirmation(
    receipt id: ReceiptID, _ kind: ReceiptAction, complaint: String? = nil
  ) throws(Refusal) -> ConfirmationPage {
    let record = try read { source throws(StoreFault) in try source.reader.receipt(id: id) }
    guard let record, let receipt = record.receipt else { throw .problem(.unknownReceipt) }
    let token = tokens.token(for: Self.purpose(kind, id.text))
    let target = Link("receipts", id.text, kind.rawValue)
    let hidden = [(name: Self.tokenField, value: token)]
    let state = "\(receipt.id) of \(record.app) \(Self.state(receipt))."
    switch kind {
    case .replay:
      let force = receipt.state == .delivered
      let bytes = receipt.body == nil ? "" : " and the same bytes as before"
      var text = [
        state,
        force
          ? "The destination has accepted it before and will receive it twice."
          : "It is due at once, with its whole retry budget\(bytes).",
      ]
      if receipt.isUnpaid {
        text.insert("It is not paid: the destination would give the user access without a payment.", at: 1)
      }
      return ConfirmationPage(
        title: "Replay this receipt?", place: .receipts, text: text, subject: .receipt(receipt.id),
        button: "Replay", needsReason: force, target: target,
        hidden: hidden + (force ? [(name: "force", value: "yes")] : []), back: Link("receipts", id.text),
        complaint: complaint)
    case .cancel:
      return ConfirmationPage(
        title: "Cancel this receipt?", place: .receipts,
        text: [state, "It will not be sent, unless you replay it later."],
        subject: .receipt(receipt.id), button: "Cancel receipt", isDestructive: true,
        needsReason: true, target: target, hidden: hidden, back: Link("receipts", id.text),
        complaint: complaint)
    }
  }

  /// The end of a sentence: `has failed: the destination answered 422, which a retry cannot fix`.
  private static func state(_ receipt: Receipt) -> String {
    let why = receipt.reason.map { ": \($0.meaning)" } ?? ""
    return switch receipt.state {
    case .waiting: "is waiting\(why)"
    case .pending: "is pending"
    case .delivered: "was delivered"
    case .failed: "has failed\(why)"
    case .cancelled: "was cancelled"
    }
  }

  /// The group of failed receipts that a query or a form names.
  func group(_ form: AdminForm) throws(Refusal) -> FailureGroup {
    guard let app = form["app"], let reason = form["reason"] else {
      throw .problem(Self.problem(Fault(path: "app", message: "and `reason` name the group")))
    }
    if let fault = Reason.fault(in: reason) {
      throw .problem(Self.problem(Fault(path: "reason", message: "is wrong: \(fault)")))
    }
    // If the destination refused a receipt, cause and reason are equal, so a URL may omit the cause.
    let cause = form["cause"] ?? (reason.hasPrefix("http_") ? reason : "")
    let groups = try read { source throws(StoreFault) in
      try source.reader.failures(
        FailureChoice(
          app: AppSlug(app), processor: form["processor"].map(ProcessorName.init), reason: reason,
          cause: cause), limit: 1)
    }
    guard let group = groups.first else { throw .problem(.nothingFailed) }
    return group
  }

  func confirmation(
    group: FailureGroup, rate: String? = nil, complaint: String? = nil
  ) throws(Refusal) -> ConfirmationPage {
    let purpose = Self.purpose(group.app, group.processor.text, group.reason, group.cause)
    let cause = group.cause.flatMap { $0 == group.reason ? nil : ", last cause \($0)" } ?? ""
    let replays = try read { source throws(StoreFault) in try source.reader.openReplays() }
    let replay = replays.first { $0.replays(group) }
    return ConfirmationPage(
      title: "Replay \(PageParts.counted(group.count, "receipt"))?", place: .failed,
      text: (replay.map { ["A replay of such receipts has not ended: \($0.id)."] } ?? [])
        + Self.warnings(replay == nil ? replays : [], group.count, rate: rate) + [
          "They failed for \(group.reason) (\(Reason(group.reason).meaning)\(cause)), all of the app "
            + "\(group.app), paid by \(group.processor).",
          "New receipts are delivered before them. Fix the cause first, or they fail again.",
        ], subject: (replay ?? replays.first).map { .job($0.id) },
      button: "Replay \(PageParts.counted(group.count, "receipt"))", needsReason: false,
      target: Link("failed", "replay"),
      hidden: [
        (Self.tokenField, tokens.token(for: purpose)), ("app", group.app.text),
        ("processor", group.processor.text), ("reason", group.reason), ("cause", group.cause ?? ""),
      ], fields: [.rate(rate ?? ConfirmationPage.rateDefault)], back: Link("failed"), complaint: complaint)
  }

  private static func purpose(_ kind: ReceiptAction, _ id: String) -> String { "\(kind.rawValue) \(id)" }
  /// Unambiguous, because a slug has no space.
  private static func purpose(
    _ app: AppSlug, _ processor: String, _ reason: String, _ cause: String?
  ) -> String {
    "replay failed \(app) \(processor) \(reason) \(cause ?? "")"
  }

  // MARK: Changes

  /// Parses a submitted form.
  func form(sent request: Request) throws(Refusal) -> AdminForm {
    let form: AdminForm
    do throws(Fault) {
      form = try AdminForm(bytes: request.body)
    } catch {
      throw .problem(Self.problem(error))
    }
    return try checked(form)
  }

  /// Limits the length of the reason.
  func checked(_ form: AdminForm) throws(Refusal) -> AdminForm {
    guard (form["why"]?.count ?? 0) <= ConfirmationPage.wordsCharactersMax else {
      throw .problem(Self.problem(Fault(path: "why", message: "is too long")))
    }
    return form
  }

  /// Replays a group of failed receipts.
  func replayFailed(_ form: AdminForm, _ visitor: String, _ exchange: Exchange) throws(Refusal) {
    let purpose = Self.purpose(
      AppSlug(form["app"] ?? ""), form["processor"] ?? "", form["reason"] ?? "", form["cause"])
    try check(form, for: purpose)
    let group = try group(form)
    let typed = form["rate"] ?? ConfirmationPage.rateDefault
    guard let rate = Double(typed), JobRequest.rates.contains(rate) else {
      let page = try confirmation(group: group, rate: typed, complaint: ConfirmationPage.rateComplaint)
      return answer(.question(page), exchange)
    }
    replay(group.filter, rate: rate, form["why"], visitor, exchange)
  }

  /// Refuses a form that another site made. No site can make a program's request, which has a token.
  func check(_ form: AdminForm, for purpose: String) throws(Refusal) {
    guard isProgram || tokens.accepts(form[Self.tokenField], for: purpose) else {
      throw .problem(.foreignForm)
    }
  }

  func change(
    receipt id: ReceiptID, _ kind: ReceiptAction, _ form: AdminForm, _ visitor: String, _ exchange: Exchange
  ) throws(Refusal) {
    try check(form, for: Self.purpose(kind, id.text))
    let words = form["why"]
    let record = try read { source throws(StoreFault) in try source.reader.receipt(id: id) }
    guard let record, let receipt = record.receipt else { throw .problem(.unknownReceipt) }
    let force = form["force"] == "yes"
    let needsReason = kind == .cancel || force
    if needsReason, words?.allSatisfy(\.isWhitespace) ?? true {
      let page = try confirmation(receipt: id, kind, complaint: AdminForm.whyComplaint)
      return answer(.question(page), exchange)
    }
    let details: JSONValue = force ? ["was": .string(receipt.state.rawValue), "forced": true] : [:]
    let entry = AuditEntry(
      at: now, actor: visitor, action: "receipts \(kind.rawValue)", app: record.app, subject: id.text,
      reason: words,
      details: details.text)
    let target = Link("receipts", id.text, query: [("done", kind.rawValue)])
    switch kind {
    case .replay:
      let command = ReplayReceipt(id: id, force: force, dueAt: now)
      apply(Audited(command) { $0 == .done ? entry : nil }, app: record.app, exchange) { outcome in
        outcome == .done ? .success(target) : .failure(.refused(outcome))
      }
    case .cancel:
      let command = CancelReceipt(id: id, note: words ?? "")
      apply(Audited(command) { $0 == .done ? entry : nil }, app: record.app, exchange) { outcome in
        outcome == .done ? .success(target) : .failure(.refused(outcome))
      }
    }
  }

  /// Applies the change, then redirects to the page that shows it, so that a reload repeats nothing (RFC 9110
  /// §15.4.4).
  func apply<Command: StoreCommand>(
    _ command: Command, app: AppSlug?, _ exchange: Exchange,
    answer: @escaping @Sendable (Command.Outcome) -> Result<Link, Problem>
  ) {
    submit(command, app: app, exchange) { outcome in
      switch answer(outcome) {
      case .success(let link): .redirect(link)
      case .failure(let problem): .problem(problem)
      }
    }
  }

  /// How the dashboard answers a change.
  enum ChangeAnswer {
    /// It was made; this page shows it.
    case redirect(Link)
    /// Asks before it, or again because something is wrong.
    case question(ConfirmationPage)
    /// Asks again for the values.
    case values(SupplyPage)
    case problem(Problem)
  }

  func answer(_ answer: ChangeAnswer, _ exchange: Exchange) {
    exchange.answer { response(to: answer, exchange.scope) }
  }

  private func response(to answer: ChangeAnswer, _ scope: RequestScope) -> Response {
    switch answer {
    case .problem(let problem): return self.answer(problem, scope)
    case .redirect(let link): return isProgram ? .json(link.changed) : .redirect(to: link)
    case .question(let page):
      guard isProgram else { return page.page.response }
      guard let complaint = page.complaint else { return .json(page.json) }
      return self.answer(.invalid("invalid-field", complaint), scope)
    case .values(let page):
      guard isProgram, let complaint = page.complaint else { return page.page.response }
      return self.answer(.invalid("invalid-field", complaint.text), scope)
    }
  }

  /// Gives a command to the committer, and answers when it was applied.
  func submit<Command: StoreCommand>(
    _ command: Command, app: AppSlug?, _ exchange: Exchange,
    answer: @escaping @Sendable (Command.Outcome) -> ChangeAnswer
  ) {
    let services = services
    // Changes that concern no single app share one part of the queue.
    let app = app ?? AppSlug("")
    let isQueued = committer.submit(command, from: .external(app: app)) { result in
      switch result {
      case .success(let outcome): self.answer(answer(outcome), exchange)
      case .failure(let error):
        services.log.error(
          "could not store a change of the dashboard",
          ["error": error.description, "request_id": exchange.scope.requestID])
        self.answer(.problem(.storeFailed), exchange)
      }
    }
    if !isQueued { self.answer(.problem(committer.refusal(for: app)?.problem ?? .busy), exchange) }
  }
}

extension Problem {
  static let nothingFailed = Problem(
    slug: "nothing-failed", title: "No such failures", status: 404,
    detail: "No receipt of this app is failed for this reason any more.")

  /// Why a receipt was not changed.
  static func refused(_ outcome: OperatorResult) -> Problem {
    let why =
      switch outcome {
      case .done: "It is done."
      case .notFound: "It no longer exists."
      case .delivered: "It was delivered in the meantime. To replay it, ask again."
      case .lacks(.subscription):
        "It is about a subscription that has no id yet; it comes with the payment."
      case .lacks(let reason):
        "It lacks its \(reason.text). Supply it with Complete… on its page, which also sends it."
      case .notAllowed(let state): "That cannot be done while it is \(state.rawValue)."
      case .contextNotUsable: "Its context cannot be used."
      case .known: "Its user or price is known already, and was not to be replaced (`replace`)."
      case .corrected: "Another receipt corrects it, and counts. Replay that one."
      case .unchanged: "A correction would say the same."
      case .reversed: "It reports that the money went back, which nothing corrects."
      case .erased: "Its user was erased, so it cannot be sent."
      }
    return Problem(
      slug: "refused", title: "Nothing was changed", status: 409, detail: why)
  }
}
