// `receipt-sandbox webhook`: runs the sandbox receiver of webhooks until a signal stops it.

internal import HTTPServer
internal import Sandbox
internal import Terminal

enum WebhookCommand {
  static let portDefault = 8091

  static let verb = Verb(
    spec: CommandSpec(
      ["webhook"], summary: "Stand in for your backend and print its webhooks",
      discussion: """
        Runs until it is interrupted, for this machine only. Verifies each webhook as the Standard Webhooks \
        specification says, and prints whether it is genuine, what it says, and whether its id was seen \
        before. Answers 200, 401 if it is not genuine, and 422 if its body is not as documented.
        """,
      options: [
        OptionSpec("port", placeholder: "P", help: "Where to listen; \(portDefault) without it"),
        OptionSpec(
          "secret", placeholder: "S",
          help: "One of webhook.secrets, whsec_…, or env:NAME; without it nothing is verified",
          isRepeatable: true),
        OptionSpec("status", placeholder: "S", help: "Always answer with this status, such as 503 or 410"),
        OptionSpec("fail-rate", placeholder: "F", help: "Answer this share with 503, from 0 to 1"),
        OptionSpec("delay", placeholder: "D", help: "Delay every answer, such as 250ms or 5s"),
      ],
      examples: [
        ExampleSpec(
          "receipt-sandbox webhook --secret env:WEBHOOK_SECRET", "A backend that accepts everything"),
        ExampleSpec(
          "receipt-sandbox webhook --secret env:NEW_SECRET --secret env:OLD_SECRET --fail-rate 0.3",
          "One that fails, while the secret is changed"),
      ]), run: run)

  static func run(_ session: Session) throws -> ExitCode {
    let command = session.command
    let behaviour = try StandInOptions.behaviour(session)
    let secrets = try command.options.all("secret").map { try StandInOptions.secret($0, session) }
    let verifier: WebhookVerifier
    do throws(WebhookVerifier.BadSecret) {
      verifier = try WebhookVerifier(secrets: secrets)
    } catch {
      throw command.usage("--secret \(error.position + 1) is not whsec_ and base64")
    }
    return try session.serve(port: portDefault) { port, printing throws(ServerError) in
      let webhook = try SandboxWebhook(
        port: port, verifier: verifier, behaviour: behaviour, clock: session.dependencies.clock
      ) { printing.write($0) }
      return StandIn(setting: "webhook: { url: \"\(webhook.url)\", … }", stop: webhook.stop)
    }
  }
}
