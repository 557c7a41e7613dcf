// `receipt-sandbox afterpay`: runs the sandbox Afterpay until a signal stops it.

internal import HTTPServer
internal import Sandbox
internal import Terminal

enum AfterpayCommand {
  static let portDefault = 8093
  private static let currencies = ["USD", "AUD", "NZD", "CAD", "GBP", "EUR"]

  static let verb = Verb(
    spec: CommandSpec(
      ["afterpay"], summary: "Stand in for Afterpay's API and its customers",
      discussion: """
        Runs until it is interrupted, for this machine only, and keeps everything in memory. A customer \
        confirms or cancels on the page of the checkout, or by POST /checkout/TOKEN/confirm; one of Cash App \
        by sign-payment and validate-payment. A capture before that is refused with 412; a capture charges \
        once, however often it is repeated. GET /ledger counts capture requests and charges. Unless --decide \
        says otherwise, customers with 'decline' in their e-mail address and amounts that end in .51 are \
        declined.
        """,
      options: [
        OptionSpec("port", placeholder: "P", help: "Where to listen; \(portDefault) without it"),
        OptionSpec("merchant-id", placeholder: "ID", help: "The only accepted merchant id; any without it"),
        OptionSpec("secret", placeholder: "S", help: "The only accepted secret, or env:NAME; any without it"),
        OptionSpec(
          "currency", placeholder: "C", help: "The account's currency; USD without it", choices: currencies),
        OptionSpec(
          "decide", placeholder: "HOW", help: "Approve or decline every capture, or by the rules",
          choices: SandboxAfterpaySettings.Decision.allCases.map(\.rawValue)),
        OptionSpec(
          "decline-status", placeholder: "S",
          help: "The status of a declined capture; 402 without it",
          choices: ["201", "402"]),
      ] + StandInOptions.specs(SandboxAfterpayOperation.allCases.map(\.rawValue)),
      examples: [
        ExampleSpec("receipt-sandbox afterpay", "An account whose customers you are"),
        ExampleSpec(
          "receipt-sandbox afterpay --fault cut --fault-on capture --fault-count 1",
          "The first capture charges, but its answer is lost"),
        ExampleSpec(
          "receipt-sandbox afterpay --delay 80s --fault-on capture", "Captures are answered too late"),
        ExampleSpec(
          "receipt-sandbox afterpay --decide decline --decline-status 201", "Every capture is declined"),
      ]), run: run)

  static func run(_ session: Session) throws -> ExitCode {
    let command = session.command
    let faults = try StandInOptions.faults(session)
    var settings = SandboxAfterpaySettings()
    settings.merchantID = command.options["merchant-id"]
    settings.secret = try command.options["secret"].map { try StandInOptions.secret($0, session) }
    settings.currency = command.options["currency"] ?? settings.currency
    settings.decision =
      command.options["decide"].flatMap(SandboxAfterpaySettings.Decision.init) ?? settings.decision
    settings.declineStatus = command.options["decline-status"] == "201" ? 201 : 402
    let seed = try StandInOptions.seed(session)
    return try session.serve(port: portDefault) { port, printing throws(ServerError) in
      let afterpay = try SandboxAfterpay(
        port: port, settings: settings, faults: faults, seed: seed, clock: session.dependencies.clock
      ) { printing.write($0) }
      return StandIn(setting: "afterpay: { api_base: \"\(afterpay.base)\", … }", stop: afterpay.stop)
    }
  }
}
