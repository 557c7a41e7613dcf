// `sandbox stripe`: runs the sandbox Stripe API until a signal stops it. The server's threads print the
// requests.

internal import Domain
internal import Formats
internal import HTTPServer
internal import Platform
internal import Sandbox
internal import Terminal

enum SandboxStripeCommand {
  static let portDefault = 8090
  static let eventsMax = 100_000
  private static let fileBytesMax = 256 << 20
  private static let eventsDefault = "20"
  /// How often it checks that its output is still open.
  private static let lookInterval: Duration = .milliseconds(500)

  static func run(_ session: Session) throws -> ExitCode {
    let command = session.command
    var behaviour = SandboxStripeBehaviour()
    behaviour.status = try command.integer("status", in: 200...599)
    behaviour.failRate = try command.number("fail-rate", in: 0...1) ?? 0
    behaviour.requestsPerSecondMax = try command.ratePerSecond("rate-limit", in: 1...100_000).map { Int($0) }
    behaviour.pageSizeMax = try command.integer("page-size", in: 1...100) ?? 100
    let port = UInt16(clamping: try command.integer("port", in: 0...65_535) ?? portDefault)
    let records = try records(command.options["events"] ?? eventsDefault, session)
    // Before the server's threads exist, so that they inherit the signal mask and leave the signals to this
    // thread.
    session.dependencies.catchStop()
    let (output, isJSON, clock) = (session.output, session.isJSON, session.dependencies.clock)
    let stripe: SandboxStripe
    do throws(ServerError) {
      stripe = try SandboxStripe(port: port, records: records, behaviour: behaviour) { request in
        let time = RFC3339.string(unixMilliseconds: clock.wallMilliseconds)
        if isJSON {
          output.json([
            "at": .string(time), "status": .integer(Int64(request.status)),
            "method": .string(request.method), "target": .string(request.target),
          ])
        } else {
          output.line(DisplayText.clean("\(time)  \(request.status)  \(request.method) \(request.target)"))
        }
      }
    } catch {
      throw OperatorFault(
        .unavailable, "cannot listen on port \(port): \(error); choose another one with --port")
    }
    session.output.note(
      "Listening with \(CountText.of(records.count, "event")). Set stripe: { api_key: \"sk_test_sandbox\", "
        + "api_base: \"\(stripe.base)\", … } of an app; end with Ctrl-C.")
    while !session.dependencies.isStopped(lookInterval), !session.output.result.isClosed {}
    stripe.stop()
    return .done
  }

  /// This many sample checkouts, or the events of a file.
  private static func records(_ source: String, _ session: Session) throws -> StripeRecords {
    if let count = Int(source) {
      guard (0...eventsMax).contains(count) else {
        throw session.usage("--events makes up to \(eventsMax) of them")
      }
      var random = SeededGenerator(seed: 1)
      return StripeRecords.made(count, now: session.now.unixMilliseconds, random: &random)
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
