// `receipt-sandbox swedbank`: runs the sandbox Swedbank Pay until a signal stops it.

internal import HTTPServer
internal import Sandbox
internal import Terminal

enum SwedbankCommand {
  static let portDefault = 8092
  private static let copiesMax = 100

  static let verb = Verb(
    spec: CommandSpec(
      ["swedbank"], summary: "Stand in for Swedbank Pay's API and its payers",
      discussion: """
        Runs until it is interrupted, for this machine only, and keeps everything in memory. A new order's \
        checkout page has buttons to play the payer: pay, authorize, fail, cancel, abort, capture, reverse. \
        A script does the same with POST /checkout/ID/pay. Each change is followed by a callback, which is \
        sent again like Swedbank's until it is answered with 2xx. GET /ledger lists all orders.
        """,
      options: [
        OptionSpec("port", placeholder: "P", help: "Where to listen; \(portDefault) without it"),
        OptionSpec(
          "token", placeholder: "T", help: "The only accepted token, or env:NAME; any token without it"),
        OptionSpec("payee-id", placeholder: "ID", help: "The only accepted payeeId; any without it"),
        OptionSpec(
          "callback-scale", placeholder: "F",
          help: "Multiply the times of repeated callbacks, 30 s to 21 min, by this, such as 0.01"),
        OptionSpec("callbacks", placeholder: "N", help: "Send each callback this many times; 0 loses all"),
      ] + StandInOptions.specs(SandboxSwedbankOperation.allCases.map(\.rawValue)),
      examples: [
        ExampleSpec("receipt-sandbox swedbank", "An account whose payments you decide on"),
        ExampleSpec("receipt-sandbox swedbank --callbacks 0", "All callbacks are lost"),
        ExampleSpec(
          "receipt-sandbox swedbank --fault truncated --fault-on create --fault-count 1",
          "The first order is created, but half of the answer is lost"),
        ExampleSpec(
          "receipt-sandbox swedbank --status 503 --fail-rate 0.3 --callback-scale 0.01",
          "A bad day, with quick callbacks"),
      ]), run: run)

  static func run(_ session: Session) throws -> ExitCode {
    let command = session.command
    let faults = try StandInOptions.faults(session)
    let scale = try command.number("callback-scale", in: 0...1000) ?? 1
    let copies = try command.integer("callbacks", in: 0...copiesMax) ?? 1
    let token = try command.options["token"].map { try StandInOptions.secret($0, session) }
    let seed = try StandInOptions.seed(session)
    return try session.serve(port: portDefault) { port, printing throws(ServerError) in
      let swedbank = try SandboxSwedbank(
        port: port, token: token, payeeID: command.options["payee-id"], faults: faults, callbackScale: scale,
        seed: seed, clock: session.dependencies.clock, onExchange: { printing.write($0) },
        onCallback: { printing.write($0) })
      swedbank.callbackCopies = copies
      return StandIn(
        setting: "swedbank: { api_base: \"\(swedbank.base)\", callback_from: [\"127.0.0.1\"], … }",
        stop: swedbank.stop)
    }
  }
}
