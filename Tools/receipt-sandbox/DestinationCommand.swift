// `receipt-sandbox destination`: runs the sandbox destination until a signal stops it.

internal import HTTPServer
internal import Sandbox
internal import Terminal

enum DestinationCommand {
  static let portDefault = 8089

  static let verb = Verb(
    spec: CommandSpec(
      ["destination"], summary: "Stand in for Purchasely's endpoint and print its requests",
      discussion: """
        Runs until it is interrupted, for this machine only. Answers like the real endpoint, as far as \
        that is documented: 200 with an import id, 403 without a key, 422 if a property is missing. \
        Nothing is stored.
        """,
      options: [
        OptionSpec("port", placeholder: "P", help: "Where to listen; \(portDefault) without it"),
        OptionSpec("status", placeholder: "S", help: "Always answer with this status, such as 503 or 422"),
        OptionSpec("fail-rate", placeholder: "F", help: "Answer this share with 503, from 0 to 1"),
        OptionSpec("delay", placeholder: "D", help: "Delay every answer, such as 250ms or 5s"),
      ],
      examples: [
        ExampleSpec("receipt-sandbox destination", "A destination that accepts everything"),
        ExampleSpec(
          "receipt-sandbox destination --fail-rate 0.3 --delay 200ms", "One that is slow and fails"),
        ExampleSpec("receipt-sandbox destination --status 422", "One that refuses, to try a replay"),
      ]), run: run)

  static func run(_ session: Session) throws -> ExitCode {
    let behaviour = try StandInOptions.behaviour(session)
    return try session.serve(port: portDefault) { port, printing throws(ServerError) in
      let destination = try SandboxDestination(port: port, behaviour: behaviour) { printing.write($0) }
      return StandIn(setting: "purchasely: { url: \"\(destination.url)\", … }", stop: destination.stop)
    }
  }
}
