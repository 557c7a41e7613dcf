// `receipt-sandbox stripe`: runs the sandbox Stripe API until a signal stops it.

internal import Formats
internal import HTTPServer
internal import Platform
internal import Sandbox
internal import Terminal

enum StripeCommand {
  static let portDefault = 8090
  static let eventsMax = 100_000
  private static let fileBytesMax = 256 << 20
  private static let eventsDefault = "20"

  static let verb = Verb(
    spec: CommandSpec(
      ["stripe"], summary: "Stand in for Stripe's API and print its requests",
      discussion: """
        Runs until it is interrupted, for this machine only. Serves a list of events, and their checkout \
        sessions and subscriptions, to receiptd and events backfill. Accepts any key.
        """,
      options: [
        OptionSpec("port", placeholder: "P", help: "Where to listen; \(portDefault) without it"),
        OptionSpec(
          "events", placeholder: "FILE|N",
          help:
            "This many made-up checkouts, a minute apart, or a file with an event on each line; 20 without "
            + "it"),
        OptionSpec("fail-rate", placeholder: "F", help: "Answer this share with 500, from 0 to 1"),
        OptionSpec("status", placeholder: "S", help: "Always answer with this status, such as 401 or 429"),
        OptionSpec("rate-limit", placeholder: "N/s", help: "Answer 429 to requests beyond this rate"),
        OptionSpec("page-size", placeholder: "N", help: "The most events in a page; 100 without it"),
      ],
      examples: [
        ExampleSpec("receipt-sandbox stripe --events 250", "An account with 250 checkouts"),
        ExampleSpec(
          "receipt-sandbox stripe --rate-limit 2/s --fail-rate 0.2 --page-size 10",
          "A rate limit, errors and small pages"),
      ]), run: run)

  static func run(_ session: Session) throws -> ExitCode {
    let command = session.command
    var behaviour = SandboxStripeBehaviour()
    behaviour.status = try command.integer("status", in: 200...599)
    behaviour.failRate = try command.number("fail-rate", in: 0...1) ?? 0
    behaviour.requestsPerSecondMax = try command.ratePerSecond("rate-limit", in: 1...100_000).map { Int($0) }
    behaviour.pageSizeMax = try command.integer("page-size", in: 1...100) ?? 100
    let records = try records(command.options["events"] ?? eventsDefault, session)
    return try session.serve(
      port: portDefault, with: CountText.of(records.count, "event")
    ) { [behaviour] port, printing throws(ServerError) in
      let stripe = try SandboxStripe(port: port, records: records, behaviour: behaviour) {
        printing.write($0)
      }
      return StandIn(
        setting: "stripe: { api_key: \"sk_test_sandbox\", api_base: \"\(stripe.base)\", … }",
        stop: stripe.stop)
    }
  }

  /// This many sample checkouts, or the events of a file.
  private static func records(_ source: String, _ session: Session) throws -> StripeRecords {
    if let count = Int(source) {
      guard (0...eventsMax).contains(count) else {
        throw session.command.usage("--events makes up to \(eventsMax) of them")
      }
      var random = SeededGenerator(seed: 1)
      return StripeRecords.made(count, now: session.dependencies.clock.wallMilliseconds, random: &random)
    }
    let shown = DisplayText.clean(source)
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try FileReading.content(of: source, bytesMax: fileBytesMax).bytes
    } catch {
      throw OperatorFault(.notFound, "--events: cannot read \(shown) (\(error.reason))")
    }
    var records = StripeRecords()
    for (number, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
      if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { continue }
      // The message gives the line, not the parser's reason.
      guard let event = try? JSONValue(parsing: Array(line)), records.add(event) else {
        throw OperatorFault(
          .badData, "--events: line \(number + 1) of \(shown) is not an event; write one as JSON on each line"
        )
      }
    }
    return records
  }
}
