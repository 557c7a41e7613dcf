// `sandbox destination`: runs the sandbox destination until a signal stops it. The server's threads print the
// receipts.

internal import Domain
internal import Formats
internal import HTTPServer
internal import Platform
internal import Sandbox
internal import Terminal

enum SandboxDestinationCommand {
  static let portDefault = 8089
  /// How often it checks that its output is still open.
  private static let lookInterval: Duration = .milliseconds(500)
  private static let delayMax: Duration = .hours(1)

  static func run(_ session: Session) throws -> ExitCode {
    let command = session.command
    var behaviour = SandboxBehaviour()
    behaviour.status = try command.integer("status", in: 200...599)
    behaviour.failRate = try command.number("fail-rate", in: 0...1) ?? 0
    behaviour.delay = try delay(session)
    let port = UInt16(clamping: try command.integer("port", in: 0...65_535) ?? portDefault)
    // Before the server's threads exist, so that they inherit the signal mask and leave the signals to this
    // thread.
    session.dependencies.catchStop()
    let destination: SandboxDestination
    let printing = Printing(session)
    do throws(ServerError) {
      destination = try SandboxDestination(port: port, behaviour: behaviour) { printing.write($0) }
    } catch {
      throw OperatorFault(
        .unavailable, "cannot listen on port \(port): \(error); choose another one with --port")
    }
    session.output.note(
      "Listening. Set purchasely: { url: \"\(destination.url)\", … } of an app; end with Ctrl-C.")
    while !session.dependencies.isStopped(lookInterval), !session.output.result.isClosed {}
    destination.stop()
    return .done
  }

  private static func delay(_ session: Session) throws -> Duration {
    guard let text = session.command.options["delay"] else { return .zero }
    guard let delay = DurationText.duration(parsing: text), delay <= delayMax else {
      throw session.usage(
        "--delay must be a duration such as 250ms or 5s, at most 1h, not '\(DisplayText.clean(text))'")
    }
    return delay
  }

  /// Prints a receipt as a line or as a JSON object.
  private struct Printing: Sendable {
    let output: Output
    let isJSON: Bool
    let clock: any Clock

    init(_ session: Session) {
      output = session.output
      isJSON = session.isJSON
      clock = session.dependencies.clock
    }

    func write(_ receipt: SandboxReceipt) {
      let time = RFC3339.string(unixMilliseconds: clock.wallMilliseconds)
      let body = try? JSONValue(parsing: receipt.body)
      if isJSON {
        let text = String(decoding: receipt.body, as: UTF8.self)
        output.json([
          "at": .string(time), "status": .integer(Int64(receipt.status)), "body": body ?? .string(text),
        ])
        return
      }
      func field(_ name: String) -> String { body?[name]?.stringValue ?? "-" }
      let context = body?["ply_context"] == nil ? "no context" : "with context"
      let line =
        "\(time)  \(receipt.status)  \(field("user_id"))  \(field("stripe_object_type")) "
        + "\(field("stripe_object_id"))  \(field("stripe_price_id"))  \(context)"
      output.line(DisplayText.clean(line))
    }
  }
}
