// `receipt-sandbox checkout`: one checkout from the app's post to the delivered receipt, with a relay that
// delivers to this machine. The caller's thread; the stand-in's server has its own.

internal import Config
internal import Domain
internal import Formats
internal import HTTPClient
internal import HTTPServer
internal import Platform
internal import Sandbox
internal import Terminal

enum CheckoutCommand {
  static let verb = Verb(
    spec: CommandSpec(
      ["checkout"], summary: "Play one checkout, up to the delivered receipt",
      discussion: """
        Posts a context with the app's first client key, sends the event of its payment, signed with the \
        app's first webhook secret, and waits until the receipt is delivered. It is also the destination \
        meanwhile: purchasely.url of the app must be http://127.0.0.1:PORT/receipts. If a program listens on \
        that port already, such as receipt-sandbox destination, the receipt goes there.
        """,
      options: [
        OptionSpec("app", placeholder: "APP", help: "The app; not needed when there is one only"),
        OptionSpec("user", placeholder: "USER", help: "Your id of the user; made up without it"),
        OptionSpec("price", placeholder: "PRICE", help: "The price; \(priceDefault) without it"),
        OptionSpec(
          "url", placeholder: "URL", help: "Where receiptd is reached, when not at its listen address"),
      ],
      examples: [ExampleSpec("receipt-sandbox checkout", "After the installation: does it deliver?")]),
    run: run)

  private static let priceDefault = "price_sandbox"
  /// How long it waits for the receipt: the longest wait of the status request.
  private static let waitSeconds = 30

  static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let app = try session.app(configuration)
    guard let secret = try app.stripeWebhookSecret?.reveal() else { throw EventCommand.noStripe(app) }
    let key = try clientKey(of: app)
    let port = try localPort(of: app)
    let client = try SandboxClient(base: EventCommand.base(configuration, session))
    let destination = try destination(on: port, session)
    defer { destination?.stop() }
    // In a box: the generator is empty, and Thread Sanitizer checks the address of an inout argument.
    var random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    let user =
      session.command.options["user"] ?? "sandbox-" + String(UInt32.random(in: 0 ... .max), radix: 36)
    let price = session.command.options["price"] ?? priceDefault
    let blob: JSONValue = ["presentation_id": "pres_sandbox", "stripe_price_id": .string(price)]
    let context = try answered(session) { () throws(TransferFailure) in
      try client.postContext(
        app: app.slug.text, user: user, context: Base64.encode(blob.serialized()), key: key)
    }
    guard let contextID = context["context_id"]?.stringValue else {
      throw OperatorFault(.failed, "receiptd's answer to the context has no context_id")
    }
    var purchase = SandboxPurchase(
      userID: nil, priceID: price, isSubscription: true, customerID: nil, sessionID: nil,
      subscriptionID: nil, random: &random)
    purchase.contextID = contextID
    let now = session.dependencies.clock.wallMilliseconds
    let event = StripeSampleEvents.event(.subscription, purchase, now: now, random: &random)
    let signature = try event.signature(secret: secret, now: now)
    _ = try answered(session) { () throws(TransferFailure) in
      try client.postEvent(app: app.slug.text, event, signature: signature)
    }
    let status = try answered(session) { () throws(TransferFailure) in
      try client.status(app: app.slug.text, contextID: contextID, waitSeconds: waitSeconds)
    }
    return report(status, contextID, event, user, session)
  }

  private static func clientKey(of app: AppConfiguration) throws -> String? {
    guard case .restricted(let keys, _, _) = app.client else { return nil }
    guard let key = keys.first else {
      throw OperatorFault(
        .refused,
        "the app '\(DisplayText.clean(app.slug.text))' accepts only tokens of its users, which cannot "
          + "be made here"
      )
    }
    return try key.reveal()
  }

  /// The port on this machine that the app's receipts are delivered to.
  /// - Throws: if they are delivered elsewhere: the purchase did not happen; and if a test makes none.
  private static func localPort(of app: AppConfiguration) throws -> UInt16 {
    guard app.modeLeftOut != "test" else {
      throw OperatorFault(
        .refused,
        "'\(DisplayText.clean(app.slug.text))' takes live payments only, and this is a test; use another app "
          + "or installation, with livemode: \"test\"")
    }
    let url = app.purchasely?.url ?? ""
    let prefix = "http://127.0.0.1:"
    let parts = url.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
    guard url.hasPrefix(prefix), parts.count == 2, let port = UInt16(parts[0]), port > 0,
      "/" + parts[1] == SandboxDestination.path
    else {
      throw OperatorFault(
        .refused,
        "the receipts of '\(DisplayText.clean(app.slug.text))' are not delivered to this machine, and this "
          + "purchase did not happen; set purchasely: { url: \"http://127.0.0.1:"
          + "\(DestinationCommand.portDefault)\(SandboxDestination.path)\" } for a test, or send a "
          + "single event with receipt-sandbox event")
    }
    return port
  }

  /// The stand-in; nil if another program listens there.
  private static func destination(on port: UInt16, _ session: Session) throws -> SandboxDestination? {
    do throws(ServerError) {
      return try SandboxDestination(port: port)
    } catch {
      if case .system(let failure) = error, failure.isAddressInUse {
        session.output.note("Another program listens on port \(port); the receipt goes there.")
        return nil
      }
      throw OperatorFault(.unavailable, "cannot listen on port \(port): \(error)")
    }
  }

  /// The body of an answer with a status of success.
  private static func answered(
    _ session: Session, _ send: () throws(TransferFailure) -> TransferResult
  ) throws -> JSONValue {
    let answer: TransferResult
    do throws(TransferFailure) {
      answer = try send()
    } catch {
      throw OperatorFault(
        .unavailable,
        "no answer from receiptd (\(error.rawValue)); see that it runs with this configuration, or say "
          + "where with --url")
    }
    let status = answer.status ?? 0
    guard (200..<300).contains(status) else {
      let words = DisplayText.truncated(
        DisplayText.clean(String(decoding: answer.body, as: UTF8.self)), to: 500)
      throw OperatorFault(status == 503 ? .tryAgain : .failed, "receiptd answered \(status): \(words)")
    }
    return (try? JSONValue(parsing: answer.body)) ?? [:]
  }

  private static func report(
    _ status: JSONValue, _ contextID: String, _ event: SandboxEvent, _ user: String, _ session: Session
  ) -> ExitCode {
    let state = status["state"]?.stringValue ?? "unknown"
    let receipt = status["receipt_id"]?.stringValue
    if session.isJSON {
      session.output.json([
        "user_id": .string(user), "context_id": .string(contextID), "event_id": .string(event.id),
        "receipt_id": .optional(receipt), "state": .string(state),
      ])
    } else {
      session.output.line("context  \(DisplayText.clean(contextID)), of user \(DisplayText.clean(user))")
      session.output.line("event    \(event.id) (\(event.type))")
      session.output.line("receipt  \(DisplayText.clean(receipt ?? "-"))")
      session.output.line("state    \(DisplayText.clean(state))")
    }
    if state == "delivered" { return .done }
    let more = receipt.map { "; see: receiptctl receipts show \(ShellWord.quoted($0))" } ?? ""
    let what =
      state == "failed" ? "the receipt failed" : "the receipt was not delivered within \(waitSeconds) s"
    session.output.error(what + more)
    return state == "failed" ? .failed : .tryAgain
  }
}
