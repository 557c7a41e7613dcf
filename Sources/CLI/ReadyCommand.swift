// `receiptctl ready`: asks the running receiptd whether it can accept requests, for health checks of
// containers without curl. One thread.

internal import Config
internal import Formats
internal import HTTPClient
internal import Platform
internal import Service
internal import Terminal

enum ReadyCommand {
  static let verb = Verb(
    spec: CommandSpec(
      ["ready"], summary: "Whether receiptd can accept requests, as an exit code",
      discussion: """
        Asks for /readyz at the admin listener of the configuration, which must have an address and a port. \
        Ends with 0 if receiptd is ready, with 75 and the reasons if it is not, with 69 if there is no \
        answer within 5 s.
        """,
      examples: [ExampleSpec("receiptctl ready", "As the health check of a container")]), run: run)

  private static let timeout: Duration = .seconds(5)

  /// The answer of /readyz.
  struct Answer: Sendable {
    let isReady: Bool
    let reasons: [HealthReport.Reason]
  }

  private static func run(_ session: Session) throws -> ExitCode {
    let admin = try session.configuration(using: "admin").admin
    guard admin.socketPath == nil, admin.port != 0 else {
      throw OperatorFault(
        .refused,
        "the admin listener has no fixed port; ask its socket: "
          + "curl --unix-socket PATH http://localhost/readyz")
    }
    let answer = try ask(admin, timeout: timeout)
    if session.isJSON {
      session.output.json([
        "ready": .bool(answer.isReady), "reasons": .array(answer.reasons.map { .string($0.text) }),
      ])
    } else if answer.isReady {
      session.output.line("ready")
    }
    if answer.isReady { return .done }
    let words = answer.reasons.map(\.text).joined(separator: "; ")
    session.output.error("receiptd is not ready: \(DisplayText.clean(words))")
    return .tryAgain
  }

  /// What the receiptd of this machine says of itself now; nil if it cannot be asked.
  static func current(_ admin: Configuration.Admin) -> Answer? {
    guard admin.socketPath == nil, admin.port != 0 else { return nil }
    return try? ask(admin, timeout: .seconds(2))
  }

  private static func ask(
    _ admin: Configuration.Admin, timeout: Duration
  ) throws(OperatorFault) -> Answer {
    let request = TransferRequest(
      method: .get, url: "http://\(host(admin.address)):\(admin.port)/readyz", timeout: timeout)
    let result: TransferResult
    do throws(TransferFailure) {
      let pool = try TransferPool(connectionsMax: 1)
      try pool.start(request, tag: 0)
      var done: [TransferCompletion] = []
      while done.isEmpty { done = pool.run(timeout: timeout) }
      result = done[0].result
    } catch {
      throw unreachable(error)
    }
    guard let status = result.status else { throw unreachable(result.failure ?? .internalFault) }
    if status == 200 { return Answer(isReady: true, reasons: []) }
    let body = try? JSONValue(parsing: result.body)
    var reasons: [HealthReport.Reason] = []
    if case .array(let details)? = body?["details"] { reasons = details.map(HealthReport.Reason.init(json:)) }
    if reasons.isEmpty {
      reasons = [.init(name: "unknown", text: "status \(status)", advice: "See the log of receiptd.")]
    }
    return Answer(isReady: false, reasons: reasons)
  }

  /// The listener's address from this machine, for a URL.
  private static func host(_ text: String) -> String {
    guard let address = IPAddress(text) else { return text }
    guard address.isWildcard else { return address.isIPv6 ? "[\(address.text)]" : address.text }
    return address.isIPv6 ? "[::1]" : "127.0.0.1"
  }

  private static func unreachable(_ failure: TransferFailure) -> OperatorFault {
    switch failure {
    case .refusedURL:
      OperatorFault(
        .refused, "the admin listener is neither on this machine's loopback address nor on all addresses")
    default: OperatorFault(.unavailable, "receiptd does not answer (\(failure.rawValue))")
    }
  }
}
