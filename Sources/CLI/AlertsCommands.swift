// `receiptctl alerts`: whether notices arrive, and which were sent last.

internal import Config
internal import Domain
internal import Formats
internal import HTTPClient
internal import Platform
internal import Reports
internal import Service
internal import Store
internal import Terminal
internal import Upkeep

enum AlertsCommands {
  static let spec = CommandGroup("alerts", summary: "Alerts still firing, and test notices")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["alerts", "list"], summary: "List what is wrong now, who was notified, and whether notices arrive",
        discussion: """
          First the relay's own health, as in status. Then what is wrong now by the conditions of the \
          configuration, and by the default form of those that it does not watch, with the last notice and \
          its receiver. Last the receivers: the last notice that each accepted, and the last attempt that \
          failed and why. If no alerts are configured: what would fire with the default conditions.
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
    let troubles = try Self.troubles(reader, configuration, health, session)
    let told = try reader.alerts().filter(\.isFiring)
    var rows: [Row] = []
    for trouble in troubles {
      let records = told.filter { $0.key.condition == trouble.alert?.text && $0.key.app == trouble.app }
      rows +=
        records.isEmpty
        ? [Row(trouble: trouble)]
        : records.map { Row(trouble: trouble, record: $0, to: labels[$0.key.destination]) }
    }
    // What this program cannot see, or what is over and was not reported as over yet.
    for record in told where !rows.contains(where: { $0.record?.key == record.key }) {
      rows.append(Row(record: record, to: labels[record.key.destination]))
    }
    session.show(rows, Row.list, format, configuration)
    guard format == .table else { return .done }
    for trouble in troubles { session.output.line(advice(trouble)) }
    session.output.line()
    session.output.table(receivers(labels, configuration, health.report, session))
    return .done
  }

  /// A line of the list: what is wrong, and who was notified of it.
  private struct Row {
    /// Nil for an alert that only receiptd can watch, or that is over.
    var trouble: Finding?
    /// Nil if nobody was notified.
    var record: AlertRecord?
    var to: String?

    init(trouble: Finding? = nil, record: AlertRecord? = nil, to: String? = nil) {
      (self.trouble, self.record) = (trouble, record)
      // An address that this operator may not read is shown by its digest.
      self.to = to ?? record?.key.destination
    }

    var alert: String { record?.key.condition ?? trouble?.alert?.text ?? "" }
    var app: AppSlug? { record.map(\.key.app) ?? trouble?.app }
    var since: Timestamp? { record?.since ?? trouble?.since }

    static let list = Resource(
      "alerts", one: "alert", emptyTable: "No alert is firing.", fields,
      table: ["alert", "app", "since", "told_at", "to", "summary"])
    static let preview = Resource(
      "alerts", one: "alert", emptyTable: "Nothing would fire.", fields,
      table: ["alert", "app", "since", "summary"])

    private static let fields: [ListField<Row>] = [
      .text("alert") { $0.alert }.titled("Alert"), .app { $0.app }.titled("App"),
      .time("since") { $0.since }.titled("Since"),
      .time("told_at") { $0.record?.notifiedAt }.titled("Last sent"), .text("to") { $0.to }.titled("To"),
      .text("summary") { $0.trouble?.what }.titled("What", .shrinks),
      .text("what_to_do") { $0.trouble?.next },
    ]
  }

  /// Whether notices arrive.
  private static func receivers(
    _ labels: [String: String], _ configuration: Configuration, _ report: HealthReport?, _ session: Session
  ) -> Table {
    var table = Table(
      [
        .init("RECEIVER"), .init("AS"), .init("LAST DELIVERED"), .init("LAST FAILURE"),
        .init("WHY", canShrink: true),
      ], emptyMessage: "")
    for (index, alert) in configuration.alerts.enumerated() {
      let label = "alerts[\(index)]"
      let known = report?.receivers.first { labels[$0.key] == label }?.value
      table.add([
        Table.Cell(label), Table.Cell(alert.form.rawValue), Table.Cell(session.relative(known?.sentAt)),
        Table.Cell(session.relative(known?.failedAt), known?.isFailing == true ? .red : .plain),
        Table.Cell(known?.failure ?? "-"),
      ])
    }
    return table
  }

  private static func troubles(
    _ reader: StoreReader, _ configuration: Configuration, _ health: ServiceHealth, _ session: Session
  ) throws -> [Finding] {
    try AlertPreview.troubles(
      configuration, reader: reader, stored: health.stored, health: health.report,
      freeBytes: health.freeBytes, now: session.now)
  }

  private static func advice(_ trouble: Finding) -> String {
    DisplayText.clean("\(trouble.app.map { "\($0): " } ?? "")\(trouble.next ?? "")")
  }

  /// No alerts are configured: shows those that would fire with the default conditions.
  private static func preview(
    _ reader: StoreReader, _ configuration: Configuration, _ health: ServiceHealth, _ session: Session
  ) throws -> ExitCode {
    let troubles = try troubles(reader, configuration, health, session)
    let format = try ListFormat(session)
    if format == .table {
      session.output.note(
        "No alerts are configured, so no notices are sent (docs/alerts.md). With the default conditions, "
          + "\(AlertPreview.conditions.joined(separator: ", ")), these would fire:")
    }
    session.show(troubles.map { Row(trouble: $0) }, Row.preview, format, configuration)
    guard format == .table else { return .done }
    for trouble in troubles { session.output.line(advice(trouble)) }
    return .done
  }

  private static func test(_ session: Session) throws -> ExitCode {
    let configuration = try session.wholeConfiguration()
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
