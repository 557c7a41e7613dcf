// `receiptctl alerts`: whether notices arrive, and which were sent last.

internal import Alerts
internal import Configuration
internal import Domain
internal import HTTPClient
internal import JSON
internal import Platform
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
        examples: [ExampleSpec("receiptctl alerts list", "Current problems")]),
      run: list),
    Verb(
      spec: CommandSpec(
        ["alerts", "test"], summary: "Send a test notice to every address of the configuration",
        discussion: """
          Needs to read the addresses, so run it as the user that receiptd runs as. Ends with 0 when all of \
          them accepted it, 3 when some did, 69 when none did. The heartbeat is not touched.
          """,
        examples: [ExampleSpec("receiptctl alerts test", "After changing alerts")]), run: test),
  ]

  private static func list(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    var labels: [String: String] = [:]
    for (index, alert) in configuration.alerts.enumerated() {
      // An address that this operator may not read is shown by its digest.
      if let url = try? alert.to.reveal() { labels[AlertNotice.digest(of: url)] = "alerts[\(index)]" }
    }
    let reader = try session.reader(configuration)
    let health = try ServiceHealth(reader, configuration, session)
    health.show(session)
    if configuration.alerts.isEmpty { return try preview(reader, configuration, health, session) }
    let firing = try reader.alerts().filter(\.isFiring)
    if session.isJSON {
      for record in firing {
        session.output.json([
          "alert": .string(record.key.condition), "app": .optional(record.key.app?.text),
          "since": .time(record.since), "told_at": .time(record.notifiedAt),
          "to": .string(labels[record.key.destination] ?? record.key.destination),
        ])
      }
      return .done
    }
    var table = Table(
      [.init("ALERT"), .init("APP"), .init("SINCE"), .init("LAST SENT"), .init("TO")],
      emptyMessage: "No alert is firing.")
    for record in firing {
      table.add([
        Table.Cell(record.key.condition), Table.Cell(record.key.app?.text ?? "-"),
        Table.Cell(session.relative(record.since)), Table.Cell(session.relative(record.notifiedAt)),
        Table.Cell(labels[record.key.destination] ?? record.key.destination),
      ])
    }
    session.output.table(table)
    return .done
  }

  /// No alerts are configured: shows those that would fire with the default conditions.
  private static func preview(
    _ reader: StoreReader, _ configuration: Configuration, _ health: ServiceHealth, _ session: Session
  ) throws -> ExitCode {
    let troubles = try AlertPreview.troubles(
      configuration, reader: reader, health: health.report, freeBytes: health.freeBytes, now: session.now)
    if session.isJSON {
      for trouble in troubles {
        session.output.json([
          "alert": .string(trouble.alert), "app": .optional(trouble.app?.text), "since": .time(trouble.since),
          "told_at": .null, "to": .null, "summary": .string(trouble.summary),
          "what_to_do": .string(trouble.advice),
        ])
      }
      return .done
    }
    session.output.note(
      "No alerts are configured, so no notices are sent (docs/alerts.md). With the default conditions, "
        + "\(AlertPreview.conditions.joined(separator: ", ")), these would fire:")
    var table = Table(
      [.init("ALERT"), .init("APP"), .init("SINCE"), .init("WHAT", canShrink: true)],
      emptyMessage: "Nothing would fire.")
    for trouble in troubles {
      table.add([
        Table.Cell(trouble.alert), Table.Cell(trouble.app?.text ?? "-"),
        Table.Cell(session.relative(trouble.since)), Table.Cell(trouble.summary),
      ])
    }
    session.output.table(table)
    for trouble in troubles {
      session.output.line(DisplayText.clean("\(trouble.app.map { "\($0): " } ?? "")\(trouble.advice)"))
    }
    return .done
  }

  private static func test(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    guard !configuration.alerts.isEmpty else {
      throw OperatorFault(
        .notFound, "no alerts are configured; add alerts: [{ to: \"https://…\", on: [ … ] }]")
    }
    var taken = 0
    for (index, alert) in configuration.alerts.enumerated() {
      let (isTaken, answer) = try send(alert.to, session)
      if isTaken { taken += 1 }
      let label = "alerts[\(index)]"
      if session.isJSON {
        session.output.json([
          "to": .string(label), "address": .string(alert.to.description), "taken": .bool(isTaken),
          "answer": .string(answer),
        ])
      } else {
        let address = DisplayText.clean(alert.to.description)
        session.output.line("\(label) \(address): \(isTaken ? "accepted" : "not accepted") (\(answer))")
      }
    }
    if taken == configuration.alerts.count { return .done }
    session.output.note(
      "\(configuration.alerts.count - taken) of \(configuration.alerts.count) did not accept it; check the "
        + "address, and whether this machine reaches it")
    return taken > 0 ? .partly : .unavailable
  }

  /// - Returns: whether the receiver accepted it, and the status or the failure.
  private static func send(_ to: Secret, _ session: Session) throws -> (isTaken: Bool, answer: String) {
    let notice = AlertNotice(testAt: session.now.unixMilliseconds)
    let request = TransferRequest(
      method: .post, url: try to.reveal(),
      headers: [
        TransferHeader("User-Agent", "receiptctl/\(Version.number)"),
        TransferHeader("Content-Type", "application/json"),
      ], body: notice.body(host: HostName.current()))
    do throws(TransferFailure) {
      let transfers = try TransferPool(connectionsMax: 1)
      try transfers.start(request, tag: 0)
      while true {
        guard let result = transfers.run(timeout: .seconds(60)).first?.result else { continue }
        guard let status = result.status else {
          return (false, result.failureText ?? TransferFailure.internalFault.rawValue)
        }
        return ((200...299).contains(status), String(status))
      }
    } catch {
      return (false, error.rawValue)
    }
  }
}
