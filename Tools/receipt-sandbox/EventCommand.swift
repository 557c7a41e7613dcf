// `receipt-sandbox event`: sends one sample event, signed with the app's own secret, to the daemon that the
// configuration describes.

internal import Config
internal import Domain
internal import Formats
internal import HTTPClient
internal import Platform
internal import Sandbox
internal import Terminal

enum EventCommand {
  static let verb = Verb(
    spec: CommandSpec(
      ["event"], summary: "Send a correctly signed Stripe event to the configured receiptd",
      discussion: """
        Signs with the app's first webhook secret, so it must be readable here.
        TYPE is a short form or Stripe's name:
        - subscription: checkout.session.completed, a subscription, paid
        - payment: checkout.session.completed, a single payment, paid
        - unpaid: checkout.session.completed, the money still under way
        - async-succeeded: checkout.session.async_payment_succeeded
        - async-failed: checkout.session.async_payment_failed
        - expired: checkout.session.expired
        - subscription-created: customer.subscription.created
        - invoice-paid: invoice.paid
        Ids are made up. To continue a purchase, give --session and --subscription; a checkout with \
        --subscription sells that subscription, one without is a single payment.
        """,
      options: [
        OptionSpec("app", placeholder: "APP", help: "The app; not needed when there is one only"),
        OptionSpec("user", placeholder: "USER", help: "Your id of the user; left out, the event names none"),
        OptionSpec("price", placeholder: "PRICE", help: "The price, price_…; left out, the event names none"),
        OptionSpec("type", placeholder: "TYPE", help: "The type of the event; subscription without it"),
        OptionSpec(
          "context", placeholder: "C",
          help:
            "A context's id (ctx_…) or its blob, for the metadata; an id without --user is the checkout's "
            + "reference, as a Payment Link passes it on"),
        OptionSpec("session", placeholder: "ID", help: "The checkout session, cs_…"),
        OptionSpec("subscription", placeholder: "ID", help: "The subscription, sub_…"),
        OptionSpec("customer", placeholder: "ID", help: "The customer, cus_…"),
        OptionSpec(
          "url", placeholder: "URL", help: "Where receiptd is reached, when not at its listen address"),
      ],
      examples: [
        ExampleSpec(
          "receipt-sandbox event --app ios --user jdo-1 --price price_1MbKJHJaEiB9UwXBPt0fFq4O",
          "A subscription was bought by a user who has posted a context"),
        ExampleSpec(
          "receipt-sandbox event --user jdo-1 --price price_1 --type unpaid", "The money is under way"),
        ExampleSpec(
          "receipt-sandbox event --user jdo-1 --type async-succeeded --session cs_test_a1",
          "The money has arrived"),
      ]), run: run)

  static func run(_ session: Session) throws -> ExitCode {
    let options = session.command.options
    let kind = try kind(options["type"], session)
    let configuration = try session.configuration()
    let app = try session.app(configuration)
    // In a box: the generator is empty, and Thread Sanitizer checks the address of an inout argument.
    var random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    let sellsSubscription = [.subscription, .subscriptionCreated, .invoicePaid].contains(kind)
    var purchase = SandboxPurchase(
      userID: options["user"], priceID: options["price"], isSubscription: sellsSubscription,
      customerID: options["customer"], sessionID: options["session"], subscriptionID: options["subscription"],
      random: &random)
    purchase.userKey = app.stripeUserKeys?.first ?? purchase.userKey
    if let context = options["context"] {
      if context.hasPrefix(ContextID.prefix) {
        purchase.contextID = context
      } else {
        purchase.context = context
      }
    }
    let now = session.dependencies.clock.wallMilliseconds
    let event = StripeSampleEvents.event(kind, purchase, now: now, random: &random)
    // If the secret cannot be read, the fault names it and says why.
    guard let secret = try app.stripeWebhookSecret?.reveal() else { throw noStripe(app) }
    let answer = try send(
      event, app.slug, signature: event.signature(secret: secret, now: now), to: base(configuration, session))
    return report(answer, event, purchase, session)
  }

  private static func kind(_ name: String?, _ session: Session) throws -> SandboxEventKind {
    guard let name else { return .subscription }
    guard let kind = SandboxEventKind(name: name) else {
      let near =
        EditDistance.nearest(to: name, among: SandboxEventKind.names).map { "; did you mean '\($0)'?" } ?? ""
      throw session.command.usage("--type: there is no '\(DisplayText.clean(name))' here\(near)")
    }
    return kind
  }

  static func noStripe(_ app: AppConfiguration) -> OperatorFault {
    OperatorFault(
      .configuration,
      "the app '\(DisplayText.clean(app.slug.text))' has no section stripe; name another app with --app")
  }

  /// The daemon's base URL from this machine.
  static func base(_ configuration: Configuration, _ session: Session) throws -> String {
    if let url = session.command.options["url"] { return url }
    let listen = configuration.listen
    guard listen.port != 0 else {
      throw OperatorFault(
        .configuration, "listen.port: is 0, so the system chose the port; say which with --url")
    }
    let address = IPAddress(listen.address)
    var host = listen.address
    if address?.isWildcard ?? false { host = address?.isIPv6 ?? false ? "::1" : "127.0.0.1" }
    if host.contains(":") { host = "[\(host)]" }
    return "\(listen.tls == nil ? "http" : "https")://\(host):\(listen.port)"
  }

  private static func send(
    _ event: SandboxEvent, _ app: AppSlug, signature: String, to base: String
  ) throws -> TransferResult {
    do throws(TransferFailure) {
      return try SandboxClient(base: base).postEvent(app: app.text, event, signature: signature)
    } catch {
      let shown = DisplayText.clean(base)
      switch error {
      case .refusedURL:
        throw OperatorFault(
          .refused,
          "\(shown) is neither https nor http to this machine; say where receiptd is reached with --url")
      case .certificateRejected:
        throw OperatorFault(
          .unavailable,
          "the certificate at \(shown) does not verify; name the host that it is for with --url https://…")
      default:
        throw OperatorFault(
          .unavailable,
          "no answer from \(shown) (\(error.rawValue)); see that receiptd runs with this configuration")
      }
    }
  }

  private static func report(
    _ answer: TransferResult, _ event: SandboxEvent, _ purchase: SandboxPurchase, _ session: Session
  ) -> ExitCode {
    let status = answer.status ?? 0
    if session.isJSON {
      session.output.json([
        "event_id": .string(event.id), "type": .string(event.type), "object_id": .string(purchase.objectID),
        "session_id": .string(purchase.sessionID), "subscription_id": .optional(purchase.subscriptionID),
        "customer_id": .string(purchase.customerID), "status": .integer(Int64(status)),
      ])
    } else {
      session.output.line("event   \(event.id) (\(event.type))")
      session.output.line("object  \(DisplayText.clean(purchase.objectID))")
      session.output.line("status  \(status)")
    }
    guard (200..<300).contains(status) else {
      let words = DisplayText.truncated(
        DisplayText.clean(String(decoding: answer.body, as: UTF8.self)), to: 500)
      session.output.error("receiptd answered \(status): \(words)")
      return status == 503 ? .tryAgain : .failed
    }
    var ids =
      "--session \(ShellWord.quoted(purchase.sessionID)) --customer \(ShellWord.quoted(purchase.customerID))"
    if let subscription = purchase.subscriptionID {
      ids += " --subscription \(ShellWord.quoted(subscription))"
    }
    session.output.note("More about this purchase: \(ids)")
    session.output.note(
      "Its receipt: receiptctl receipts list --id \(ShellWord.quoted(purchase.objectID))")
    return .done
  }
}
