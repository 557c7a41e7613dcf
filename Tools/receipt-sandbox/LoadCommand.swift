// `receipt-sandbox load`: sends sample checkouts at a steady rate, each a context and its correctly signed
// event, to see how a relay behaves over time. One thread; a request that is slower than the rate delays the
// next.

internal import Config
internal import Domain
internal import Formats
internal import HTTPClient
internal import Platform
internal import Sandbox
internal import Terminal

enum LoadCommand {
  static let verb = Verb(
    spec: CommandSpec(
      ["load"], summary: "Send made-up checkouts to the configured receiptd at a steady rate",
      discussion: """
        Each is a context, posted with the app's first client key, and its event, signed with its first \
        webhook secret, so both must be readable here; an app that accepts only tokens refuses them. Every \
        user is new. Deliver to receipt-sandbox destination, never to the real one: these purchases did \
        not happen.
        """,
      options: [
        OptionSpec("app", placeholder: "APP", help: "The app; not needed when there is one only"),
        OptionSpec("rate", placeholder: "N/s", help: "Checkouts a second, such as 50/s; 10/s without it"),
        OptionSpec("duration", placeholder: "D", help: "How long, such as 90s or 5m; 1m without it"),
        OptionSpec(
          "url", placeholder: "URL", help: "Where receiptd is reached, when not at its listen address"),
      ],
      examples: [
        ExampleSpec("receipt-sandbox load --rate 50/s --duration 5m", "A busy shop, for five minutes")
      ]), run: run)

  private static let rateDefault = 10.0
  private static let rateMax = 10_000.0
  private static let durationDefault: Duration = .seconds(60)
  private static let durationMax: Duration = .days(30)

  /// The results of the requests.
  private struct Tally {
    var sent = 0
    var refused = 0
    var unanswered = 0
    /// How long a checkout's two requests took; only the newest are kept, at most `timesMax`.
    var times: [Duration] = []
    static let timesMax = 100_000

    mutating func count(_ status: Int?, wanted: ClosedRange<Int>) -> Bool {
      sent += 1
      guard let status else {
        unanswered += 1
        return false
      }
      if !wanted.contains(status) { refused += 1 }
      return wanted.contains(status)
    }
  }

  static func run(_ session: Session) throws -> ExitCode {
    let rate = try session.command.ratePerSecond("rate", in: 0.01...rateMax) ?? rateDefault
    let duration =
      try session.command.duration("duration", in: .milliseconds(1)...durationMax) ?? durationDefault
    let configuration = try session.configuration()
    let app = try session.app(configuration)
    let sender = try Sender(app, base: EventCommand.base(configuration, session))
    session.dependencies.catchStop()
    let span = DurationText.text(duration)
    session.output.note("Sending \(rate) checkouts a second to \(app.slug) for \(span); end with Ctrl-C.")
    var tally = Tally()
    let start = MonotonicInstant.now()
    var number = 0
    while true {
      let turn = start.advanced(by: .milliseconds(Int64(Double(number) * 1000 / rate)))
      let wait = max(.zero, turn.duration(since: .now()))
      guard turn.duration(since: start) < duration, !session.dependencies.isStopped(wait) else { break }
      try sender.send(number, now: session.dependencies.clock.wallMilliseconds, &tally)
      number += 1
    }
    return report(tally, number, session)
  }

  private struct Sender {
    private let app: AppConfiguration
    private let client: SandboxClient
    private let key: String?
    private let secret: String
    /// Distinguishes this run's users from those of other runs.
    private let run: String

    init(_ app: AppConfiguration, base: String) throws {
      self.app = app
      client = try SandboxClient(base: base)
      guard let secret = try app.stripeWebhookSecret?.reveal() else {
        throw EventCommand.noStripe(app)
      }
      self.secret = secret
      if case .restricted(let keys, _, _) = app.client { key = try keys.first?.reveal() } else { key = nil }
      run = String(UInt32.random(in: 0 ... .max), radix: 36)
    }

    func send(_ number: Int, now: Int64, _ tally: inout Tally) throws {
      let start = MonotonicInstant.now()
      let user = "load-\(run)-\(number)"
      let price = "price_load"
      let blob: JSONValue = ["presentation_id": .string("pres_\(number)"), "stripe_price_id": .string(price)]
      let context = Base64.encode(blob.serialized())
      let posted = answer { () throws(TransferFailure) in
        try client.postContext(app: app.slug.text, user: user, context: context, key: key)
      }
      guard tally.count(posted, wanted: 200...201) else { return }
      // The system's generator has no storage, so an inout of it has no address. Thread Sanitizer reads it.
      var random = SeededGenerator(seed: UInt64.random(in: .min ... .max))
      var purchase = SandboxPurchase(userID: user, priceID: price, isSubscription: true, random: &random)
      purchase.userKey = app.stripeUserKeys?.first ?? purchase.userKey
      let event = StripeSampleEvents.event(.subscription, purchase, now: now, random: &random)
      let signature = try event.signature(secret: secret, now: now)
      let sent = answer { () throws(TransferFailure) in
        try client.postEvent(app: app.slug.text, event, signature: signature)
      }
      guard tally.count(sent, wanted: 200...200) else { return }
      if tally.times.count == Tally.timesMax {
        tally.times.removeFirst(Tally.timesMax / 2)
      }
      tally.times.append(MonotonicInstant.now().duration(since: start))
    }

    /// The status; nil without an answer, which is counted and does not stop the run.
    private func answer(_ send: () throws(TransferFailure) -> TransferResult) -> Int? { try? send().status }
  }

  private static func report(_ tally: Tally, _ checkouts: Int, _ session: Session) -> ExitCode {
    let sorted = tally.times.sorted()
    func share(_ share: Double) -> Int64 {
      sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))].milliseconds
    }
    if session.isJSON {
      session.output.json([
        "checkouts": .integer(Int64(checkouts)), "requests": .integer(Int64(tally.sent)),
        "refused": .integer(Int64(tally.refused)), "unanswered": .integer(Int64(tally.unanswered)),
        "median_ms": .integer(share(0.5)), "p99_ms": .integer(share(0.99)),
      ])
    } else {
      session.output.line("checkouts   \(checkouts)")
      session.output.line("requests    \(tally.sent)")
      session.output.line("refused     \(tally.refused)")
      session.output.line("unanswered  \(tally.unanswered)")
      session.output.line("median      \(share(0.5)) ms for a checkout, both requests")
      session.output.line("p99         \(share(0.99)) ms")
    }
    if tally.refused + tally.unanswered == 0 { return .done }
    return tally.refused + tally.unanswered < tally.sent ? .partly : .unavailable
  }
}
