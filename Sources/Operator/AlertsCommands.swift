// `receiptctl alerts`: whether notices arrive, and which were sent last.

internal import Alerts
internal import Configuration
internal import Domain
internal import HTTPClient
internal import JSON
internal import Platform
internal import Presentation
internal import Relay
internal import Store
internal import Telemetry
internal import Terminal

enum AlertsCommands {
  static let spec = CommandGroup("alerts", summary: "Alerts still firing, and test notices")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["alerts", "list"], summary: "List current problems: alerts still firing, and the relay's health",
        discussion: """
          First the relay's own health, as in stats. Then the alerts still firing, each with its entry of \
          alerts in the configuration. If no alerts are configured: those that would fire with the default \
          conditions.
          """,
        options: [ListFormat.option],
        examples: [ExampleSpec("receiptctl alerts list", "Current problems")]),
      run: list),
    Verb(
      spec: CommandSpec(
        ["alerts", "test"], summary: "Send a test notice to every receiver of the configuration",
        discussion: """
          Each in the form that it expects; PagerDuty opens an incident, which you resolve there. Needs to \
          read the addresses and keys, so run it as the user that receiptd runs as. Ends with 0 when all of \
          them accepted it, 3 when some did, 69 when none did. The heartbeat is not touched.
          """,
        examples: [ExampleSpec("receiptctl alerts test", "After changing alerts")]), run: test),
  ]

  private static func list(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    var labels: [String: String] = [:]
    for (index, alert) in configuration.alerts.enumerated() {
      // An address that this operator may not read is shown by its digest.
      let label = "alerts[\(index)]"
      if let target = try? AlertTarget(alert, label: label) { labels[target.digest] = label }
    }
    let reader = try session.reader(configuration)
    let health = try ServiceHealth(reader, configuration, session)
    let format = try ListFormat(session)
    if format != .csv { health.show(session) }
    if configuration.alerts.isEmpty { return try preview(reader, configuration, health, session) }
    let known = labels
    func address(_ record: AlertRecord) -> String {
      known[record.key.destination] ?? record.key.destination
    }
    let fields: ExportFields<AlertRecord> = [
      .text("alert") { $0.key.condition }, .text("app") { $0.key.app?.text },
      .text("since") { $0.since.rfc3339 }, .text("told_at") { $0.notifiedAt.rfc3339 },
      .text("to") { known[$0.key.destination] ?? $0.key.destination },
    ]
    try session.show(reader.alerts().filter(\.isFiring), fields, format) { firing in
      var table = Table(
        [.init("ALERT"), .init("APP"), .init("SINCE"), .init("LAST SENT"), .init("TO")],
        emptyMessage: "No alert is firing.")
      for record in firing {
        table.add([
          Table.Cell(record.key.condition), Table.Cell(record.key.app?.text ?? "-"),
          Table.Cell(session.relative(record.since)), Table.Cell(session.relative(record.notifiedAt)),
          Table.Cell(address(record)),
        ])
      }
      return table
    }
    return .done
  }

  /// No alerts are configured: shows those that would fire with the default conditions.
  private static func preview(
    _ reader: StoreReader, _ configuration: Configuration, _ health: ServiceHealth, _ session: Session
  ) throws -> ExitCode {
    let troubles = try AlertPreview.troubles(
      configuration, reader: reader, health: health.report, freeBytes: health.freeBytes, now: session.now)
    let format = try ListFormat(session)
    if format == .table {
      session.output.note(
        "No alerts are configured, so no notices are sent (docs/alerts.md). With the default conditions, "
          + "\(AlertPreview.conditions.joined(separator: ", ")), these would fire:")
    }
    try session.show(troubles, previewFields, format) { troubles in
      var table = Table(
        [.init("ALERT"), .init("APP"), .init("SINCE"), .init("WHAT", canShrink: true)],
        emptyMessage: "Nothing would fire.")
      for trouble in troubles {
        table.add([
          Table.Cell(trouble.alert), Table.Cell(trouble.app?.text ?? "-"),
          Table.Cell(session.relative(trouble.since)), Table.Cell(trouble.summary),
        ])
      }
      return table
    }
    guard format == .table else { return .done }
    for trouble in troubles {
      session.output.line(DisplayText.clean("\(trouble.app.map { "\($0): " } ?? "")\(trouble.advice)"))
    }
    return .done
  }

  private static let previewFields: ExportFields<CurrentTrouble> = [
    .text("alert") { $0.alert }, .text("app") { $0.app?.text }, .text("since") { $0.since.rfc3339 },
    .text("told_at") { _ in nil }, .text("to") { _ in nil }, .text("summary") { $0.summary },
    .text("what_to_do") { $0.advice },
  ]

  private static func test(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    guard !configuration.alerts.isEmpty else {
      throw OperatorFault(
        .notFound, "no alerts are configured; add alerts: [{ to: \"https://…\", on: [ … ] }]")
    }
    var taken = 0
    for (index, alert) in configuration.alerts.enumerated() {
      let label = "alerts[\(index)]"
      let attempt = try send(AlertTarget(alert, label: label), session)
      if attempt.isAccepted { taken += 1 }
      let form = alert.form.rawValue
      let address = alert.to?.description ?? alert.mailTo.joined(separator: ",")
      if session.isJSON {
        session.output.json([
          "to": .string(label), "as": .string(form), "address": .string(address),
          "taken": .bool(attempt.isAccepted), "answer": .string(attempt.text),
        ])
      } else {
        let verdict = attempt.isAccepted ? "accepted" : "not accepted"
        let receiver = [label, form, address].filter { !$0.isEmpty }.joined(separator: " ")
        session.output.line(DisplayText.clean("\(receiver): \(verdict) (\(attempt.text))"))
      }
    }
    if taken == configuration.alerts.count { return .done }
    session.output.note(
      "\(configuration.alerts.count - taken) of \(configuration.alerts.count) did not accept it; check the "
        + "address and key, and whether this machine reaches it")
    return taken > 0 ? .partly : .unavailable
  }

  private static func send(_ target: AlertTarget, _ session: Session) throws -> AlertAttempt {
    let now = session.now.unixMilliseconds
    let message = target.message(
      AlertNotice(testAt: now), sentAt: now, host: HostName.current(),
      userAgent: "receiptctl/\(Version.number)")
    switch message {
    case .request(let request): return post(request, session)
    case .mail(let mail): return send(mail)
    }
  }

  private static func post(_ request: TransferRequest, _ session: Session) -> AlertAttempt {
    do throws(TransferFailure) {
      let transfers = try TransferPool(connectionsMax: 1)
      try transfers.start(request, tag: 0)
      while true {
        guard let result = transfers.run(timeout: .seconds(60)).first?.result else { continue }
        return AlertAttempt(result, now: session.now)
      }
    } catch {
      return AlertAttempt(notStarted: error)
    }
  }

  private static func send(_ mail: Mail) -> AlertAttempt {
    do throws(SystemError) {
      let delivery = try MailDelivery(mail, now: .now())
      while true {
        if let attempt = delivery.step(now: .now()) { return attempt }
        OperatorDependencies.sleep(for: MailDelivery.stepPause)
      }
    } catch {
      return AlertAttempt(notStarted: error, mail)
    }
  }
}
