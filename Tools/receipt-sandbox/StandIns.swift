// What the commands of the stand-ins have in common: their options, how they run, and the lines that they
// print. The servers' threads print.

internal import Formats
internal import HTTPClient
internal import HTTPServer
internal import Platform
internal import Sandbox
internal import Terminal

enum StandInOptions {
  private static let delayMax: Duration = .hours(1)
  private static let countMax = 1_000_000

  /// - Parameter operations: the names of the service's operations.
  static func specs(_ operations: [String]) -> [OptionSpec] {
    [
      OptionSpec(
        "fault", placeholder: "KIND",
        help:
          "How requests fail: error or lost (no answer) before any effect; error-after, cut, silent, "
          + "truncated, malformed or lie after it; redirect or page instead of it",
        choices: SandboxFault.allCases.map(\.rawValue)),
      OptionSpec(
        "fault-on", placeholder: "OPERATION", help: "Fail or delay only these; all without it",
        isRepeatable: true, choices: operations),
      OptionSpec("fault-count", placeholder: "N", help: "Fail this many requests, then no more"),
      OptionSpec("fail-rate", placeholder: "F", help: "Fail this share of requests, from 0 to 1"),
      OptionSpec("status", placeholder: "S", help: "The status of an error, such as 503; 500 without it"),
      OptionSpec(
        "delay", placeholder: "D", help: "Delay answers, such as 250ms or 80s; the effect is at once"),
      OptionSpec("seed", placeholder: "N", help: "Make the ids and choose the failures of this seed"),
    ]
  }

  /// A status, a share or a number of failures without a kind means errors.
  static func faults(_ session: Session) throws -> SandboxFaults {
    let command = session.command
    var faults = SandboxFaults()
    faults.fault = command.options["fault"].flatMap(SandboxFault.init)
    if let status = try command.integer("status", in: 300...599) { faults.status = status }
    faults.rate = try command.number("fail-rate", in: 0...1) ?? 1
    faults.remaining = try command.integer("fault-count", in: 0...countMax)
    faults.operations = Set(command.options.all("fault-on"))
    faults.delay = try command.duration("delay", in: .zero...delayMax) ?? .zero
    let isImplied = ["status", "fail-rate", "fault-count"].contains { command.options.contains($0) }
    if faults.fault == nil, isImplied { faults.fault = .error }
    return faults
  }

  static func seed(_ session: Session) throws -> UInt64 {
    UInt64(clamping: try session.command.integer("seed", in: 0...Int.max) ?? 1)
  }

  /// How a receiver answers: `--status`, `--fail-rate` and `--delay`.
  static func behaviour(_ session: Session) throws -> SandboxBehaviour {
    let command = session.command
    return SandboxBehaviour(
      status: try command.integer("status", in: 200...599),
      failRate: try command.number("fail-rate", in: 0...1) ?? 0,
      delay: try command.duration("delay", in: .zero...delayMax) ?? .zero)
  }

  /// A secret as given, or `env:NAME`, which keeps it out of the list of processes.
  static func secret(_ text: String, _ session: Session) throws -> String {
    let prefix = "env:"
    guard text.hasPrefix(prefix) else { return text }
    let name = String(text.dropFirst(prefix.count))
    guard let value = session.dependencies.environment[name], !value.isEmpty else {
      throw session.command.usage("the environment variable \(DisplayText.clean(name)) is not set")
    }
    return value
  }
}

/// A running stand-in.
struct StandIn {
  /// The part of an app's configuration that leads to it.
  let setting: String
  let stop: () -> Void
}

extension Session {
  /// Runs a stand-in until a signal arrives, or until nobody reads the output.
  /// - Parameters:
  ///   - portDefault: where it listens without `--port`.
  ///   - content: what it has, in words.
  func serve(
    port portDefault: Int, with content: String? = nil,
    start: (UInt16, Printing) throws(ServerError) -> StandIn
  ) throws -> ExitCode {
    let port = UInt16(clamping: try command.integer("port", in: 0...65_535) ?? portDefault)
    // Before the server's threads exist, so that they inherit the signal mask and leave the signals to this
    // thread.
    dependencies.catchStop()
    let standIn: StandIn
    do throws(ServerError) {
      standIn = try start(port, Printing(self))
    } catch {
      throw OperatorFault(
        .unavailable, "cannot listen on port \(port): \(error); choose another one with --port")
    }
    let what = content.map { " with \($0)" } ?? ""
    output.note("Listening\(what). Set \(standIn.setting) of an app; end with Ctrl-C.")
    // How often it checks that its output is still open.
    let lookInterval: Duration = .milliseconds(500)
    while !dependencies.isStopped(lookInterval), !output.result.isClosed {}
    standIn.stop()
    return .done
  }
}

/// Prints what a stand-in does, as lines or as JSON objects.
struct Printing: Sendable {
  private let output: Output
  private let isJSON: Bool
  private let clock: any Clock

  init(_ session: Session) {
    output = session.output
    isJSON = session.isJSON
    clock = session.dependencies.clock
  }

  func write(_ receipt: SandboxReceipt) {
    let body = try? JSONValue(parsing: receipt.body)
    func field(_ name: String) -> String { body?[name]?.stringValue ?? "-" }
    let isOfStore = body?["stripe_object_id"] == nil && body?["store_product_id"] != nil
    write(
      [
        String(receipt.status), field("user_id"),
        isOfStore ? "store purchase" : "\(field("stripe_object_type")) \(field("stripe_object_id"))",
        field(isOfStore ? "store_product_id" : "stripe_price_id"),
        body?["ply_context"] == nil ? "no context" : "with context",
      ],
      [
        "status": .integer(Int64(receipt.status)),
        "body": body ?? .string(String(decoding: receipt.body, as: UTF8.self)),
      ])
  }

  func write(_ request: SandboxStripeRequest) {
    write(
      [String(request.status), "\(request.method) \(request.target)"],
      [
        "status": .integer(Int64(request.status)), "method": .string(request.method),
        "target": .string(request.target),
      ])
  }

  func write(_ exchange: SandboxExchange) {
    let status = exchange.status.map { String($0) } ?? "no answer"
    write(
      [
        status, "\(exchange.method) \(exchange.target)", exchange.note,
        exchange.fault.map { "fault: \($0.rawValue)" },
      ],
      [
        "status": .optional(exchange.status.map { Int64($0) }), "method": .string(exchange.method),
        "target": .string(exchange.target), "operation": .optional(exchange.operation),
        "fault": .optional(exchange.fault?.rawValue), "note": .optional(exchange.note),
      ])
  }

  func write(_ attempt: SandboxCallbackAttempt) {
    let outcome = attempt.status.map { String($0) } ?? attempt.failure?.rawValue ?? "no answer"
    write(
      [
        outcome, "callback \(attempt.number) of \(attempt.orderID) to \(attempt.url)",
        attempt.isAccepted ? nil : attempt.isRetried ? "sent again later" : "not sent again",
      ],
      [
        "callback": .string(attempt.orderID), "url": .string(attempt.url),
        "attempt": .integer(Int64(attempt.number)), "status": .optional(attempt.status.map { Int64($0) }),
        "failure": .optional(attempt.failure?.rawValue), "retried": .bool(attempt.isRetried),
      ])
  }

  func write(_ receipt: SandboxWebhookReceipt) {
    let (count, isSame): (Int, Bool) =
      switch receipt.repetition {
      case .first: (1, true)
      case .same(let count): (count, true)
      case .different(let count): (count, false)
      }
    let message = receipt.message
    let price = message?.amount.map { "\($0) \(message?.currency ?? "")" }
    let purchase = message.map {
      "\($0.type)  \($0.app)  \($0.user)  \($0.processor) \($0.objectType) \($0.objectID)  \(price ?? "-")  "
        + ($0.context == nil ? "no context" : "with context")
    }
    let repetition = count == 1 ? nil : "repeat \(count)\(isSame ? "" : " with another body")"
    write(
      [
        String(receipt.status), receipt.headers.id ?? "-", receipt.verdict.text, purchase, receipt.fault,
        repetition,
      ],
      [
        "status": .integer(Int64(receipt.status)), "id": .optional(receipt.headers.id),
        "verified": .bool(receipt.verdict.isVerified), "verdict": .string(receipt.verdict.text),
        "fault": .optional(receipt.fault), "deliveries": .integer(Int64(count)), "same_body": .bool(isSame),
        "body": (try? JSONValue(parsing: receipt.body))
          ?? .string(String(decoding: receipt.body, as: UTF8.self)),
      ])
  }

  private func write(_ fields: [String?], _ members: JSONValue) {
    let time = RFC3339.string(unixMilliseconds: clock.wallMilliseconds)
    if isJSON {
      guard case .object(let list) = members else { return }
      output.json(.object([JSONValue.Member(name: "at", value: .string(time))] + list))
    } else {
      output.line(DisplayText.clean(([time] + fields.compactMap { $0 }).joined(separator: "  ")))
    }
  }
}
