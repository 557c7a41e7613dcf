// `receiptctl claims`: how customers give paid purchases that name no user to their accounts.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Store
internal import Terminal

enum ClaimsCommands {
  static let spec = CommandGroup("claims", summary: "Links by which customers claim purchases without a user")

  static let verbs = [list, show, new, revoke]

  private static let receipt = "rcp_01KAGFN9P3V6T2QJ8D4W7XZ5RM"
  private static let claim = "claim_01KAGFNB4Y7D2M6S8K1X5Q9R3W"

  private static let list = Verb(
    spec: CommandSpec(
      ["claims", "list"], summary: "List claims, newest first",
      options: ClaimFilter.options + Page.options(of: "claim"),
      examples: [
        ExampleSpec("receiptctl claims list --receipt \(receipt)", "The claims of one receipt"),
        ExampleSpec("receiptctl claims list --state claimed --since 7d", "Purchases that were claimed"),
      ]), run: { try $0.list(ClaimFilter.self) })

  private static let show = Verb(
    spec: CommandSpec(
      ["claims", "show"], summary: "Show a claim",
      arguments: [ArgumentSpec("ID", help: "the claim, claim_…, or the token of a customer's link, clm_…")],
      examples: [ExampleSpec("receiptctl claims show \(claim)", "Whether it was used")]), run: runShow)

  private static let new = Verb(
    spec: CommandSpec(
      ["claims", "new"], summary: "Make a link with which a customer claims a purchase",
      discussion: """
        For a paid purchase whose receipt waits for a user, or failed without one. The user who opens the \
        link in the app and signs in gets the purchase: send it only to the customer who paid. The token is \
        shown once and cannot be shown again. A receipt has at most \(Claim.openMax) open claims; the \
        first one that is used ends all.
        """,
      arguments: [ArgumentSpec("ID", help: "the receipt, rcp_…")],
      options: [OptionSpec("why", placeholder: "TEXT", help: "Why; kept in the audit; required")],
      examples: [
        ExampleSpec("receiptctl claims new \(receipt) --why 'paid in the shop, ticket 4711'", "For support")
      ]), run: runNew)

  private static let revoke = Verb(
    spec: CommandSpec(
      ["claims", "revoke"], summary: "Revoke claims that were not used",
      arguments: [ArgumentSpec("ID", help: "the claim, claim_…, or the receipt, rcp_…: all its claims")],
      options: [CommandTable.why],
      examples: [ExampleSpec("receiptctl claims revoke \(receipt) --why 'wrong mail'", "All its claims")]),
    run: runRevoke)

  private static func runShow(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    let text = session.command.positionals[0]
    let found: ClaimSummary?
    if let token = ClaimToken(text) {
      found = try configuration.apps.lazy.compactMap { app in
        try reader.claim(token: token, app: app.slug, now: session.now)
      }.first
    } else {
      found = try reader.claim(id: ClaimID(text), now: session.now)
    }
    guard let found else { throw unknown(text) }
    let output = session.output
    if session.isJSON {
      output.json(ClaimResource.list.object(of: found))
      return .done
    }
    let claim = found.claim
    output.line(Style.bold.applied(to: DisplayText.clean(claim.id.text), inColour: output.isInColour))
    output.line("  app       \(DisplayText.clean(found.app.text))")
    output.line("  receipt   \(DisplayText.clean(found.receiptID.text))")
    output.line("  purchase  \(DisplayText.clean(found.objectID.text))")
    output.line("  state     \(found.state.rawValue)")
    output.line("  user      \(DisplayText.clean(claim.userID?.text ?? "none"))")
    output.line("  made by   \(DisplayText.clean(claim.actor ?? claim.origin.rawValue))")
    output.line("  offered   \(claim.offeredAt.text) (\(session.relative(claim.offeredAt)))")
    output.line("  expires   \(claim.expiresAt.text) (\(session.relative(claim.expiresAt)))")
    if let ended = claim.endedAt { output.line("  ended     \(ended.text) (\(session.relative(ended)))") }
    return .done
  }

  private static func unknown(_ text: String) -> OperatorFault {
    // A token is a secret, which no message repeats.
    let shown = text.hasPrefix(ClaimToken.prefix) ? "with this token" : DisplayText.clean(text)
    return OperatorFault(.notFound, "there is no claim \(shown); claims are in: receiptctl claims list")
  }

  private static func runNew(_ session: Session) throws -> ExitCode {
    guard let why = try session.why() else {
      throw session.usage("claims new needs --why TEXT: the reason, in a few words")
    }
    let configuration = try session.wholeConfiguration()
    let id = ReceiptID(session.command.positionals[0])
    guard let record = try session.reader(configuration).receipt(id: id) else {
      throw ReceiptsCommands.unknown([id.text])
    }
    let app = try session.configuredApp(record.app, configuration)
    let command = OfferClaim(
      id, app: app.slug, origin: .operator, actor: session.dependencies.actor, lifetime: app.claims.lifetime)
    let audit = session.auditEntry(app: app.slug, subject: id.text, reason: why)
    let outcome = try session.writer(configuration).apply(
      Audited(command) { outcome in if case .offered = outcome { audit } else { nil } }, now: session.moment)
    guard case .offered(let claim, let token) = outcome else { throw refused(id, outcome, record) }
    let url = app.links?.claimURL(token, slug: app.slug)
    guard !session.isJSON else {
      session.output.json([
        "id": .string(claim.id.text), "app": .string(app.slug.text), "receipt_id": .string(id.text),
        "token": .string(token.text), "url": .optional(url), "expires_at": .time(claim.expiresAt),
      ])
      return .done
    }
    session.output.line(url ?? token.text)
    session.output.note(
      "Send this to the customer who paid, and to nobody else; it is valid until "
        + "\(claim.expiresAt.clock(today: session.now)) and is not shown again.")
    return .done
  }

  private static func refused(
    _ id: ReceiptID, _ outcome: OfferClaim.Outcome, _ record: PurchaseRecord
  ) -> OperatorFault {
    let shown = DisplayText.clean(id.text)
    switch outcome {
    case .tooMany:
      return OperatorFault(
        .refused,
        "\(shown) has \(Claim.openMax) open claims already; revoke them with: receiptctl claims revoke "
          + shown)
    case .notFound, .offered: return ReceiptsCommands.unknown([id.text])
    case .notClaimable:
      let purchase = record.purchase
      let why =
        purchase.userID != nil
        ? "has a user"
        : !purchase.isPaid
          ? "is not known to be paid"
          : purchase.isReversed || purchase.hasEnded
            ? "was refunded, or ended" : "has a receipt that does not wait for a user"
      let instead =
        purchase.userID == nil
        ? ""
        : record.receipt?.state == .delivered
          ? "; if that is the wrong one: receiptctl receipts correct \(shown) --user USER --why TEXT"
          : "; if that is the wrong one: receiptctl receipts complete \(shown) --user USER --force"
      return OperatorFault(.refused, "the purchase of \(shown) \(why), so it cannot be claimed\(instead)")
    }
  }

  private static func runRevoke(_ session: Session) throws -> ExitCode {
    let why = try session.why()
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    let text = session.command.positionals[0]
    let choice: RevokeClaims.Choice
    let record: (app: AppSlug, receipt: ReceiptID)
    if let found = try reader.claim(id: ClaimID(text), now: session.now) {
      (choice, record) = (.claim(found.claim.id), (found.app, found.receiptID))
    } else if let found = try reader.receipt(id: ReceiptID(text)) {
      (choice, record) = (.receipt(ReceiptID(text)), (found.app, ReceiptID(text)))
    } else {
      throw unknown(text)
    }
    let audit = session.auditEntry(app: record.app, subject: record.receipt.text, reason: why)
    let revoked = try session.writer(configuration, usesApps: false).apply(
      Audited(RevokeClaims(choice)) { ($0 ?? 0) > 0 ? audit : nil }, now: session.moment)
    session.output.line("Revoked \(CountText.of(revoked ?? 0, "claim")).")
    return .done
  }
}
