// `receiptctl instances`: the receiptds that run on one PostgreSQL database.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Store
internal import Terminal

enum InstancesCommands {
  static let spec = CommandGroup("instances", summary: "The receiptds on one PostgreSQL database")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["instances", "list"], summary: "List the running receiptds, and which apps each one delivers",
        discussion: """
          Each app is delivered by one instance at a time; any instance accepts contexts and webhooks of any \
          app. READY is no while an instance refuses requests: its /readyz has the reasons. SHARED marks the \
          instance that does retention, jobs and alerts for all. LAG is the age of the oldest receipt that \
          is due for one of its apps, QUEUE how many requests wait for its writer, CLOCK how far its clock \
          is ahead of the database's. Instances with different CONFIG were started with configurations that \
          treat receipts differently.
          """,
        options: [ListFormat.option],
        examples: [ExampleSpec("receiptctl instances list", "Which instance delivers which app")]),
      run: list)
  ]

  /// An instance with the age of its oldest due receipt.
  private struct Line {
    var instance: InstanceDescription
    var lag: Duration?
  }

  private static func list(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    guard let (now, running) = try session.instances(configuration) else {
      throw OperatorFault(
        .refused,
        "the database is a file, which one receiptd uses at a time; see receiptctl stats. Instances need a "
          + "PostgreSQL database: set `database` to its URL")
    }
    let reader = try session.reader(configuration)
    let lines = try running.map { instance in
      let oldest = try instance.apps.compactMap { try reader.oldestPending(app: $0) }.min()
      return Line(instance: instance, lag: oldest.map { max(.zero, now.duration(since: $0)) })
    }
    let format = try ListFormat(session)
    try session.show(lines, fields, format) { table($0, now: now) }
    if format == .table { note(lines, configuration, session) }
    return .done
  }

  private static let fields: ExportFields<Line> = [
    .text("id") { name($0.instance) }, .text("host") { $0.instance.host },
    .text("version") { $0.instance.version },
    ExportField("ready") { .bool($0.instance.unreadiness.isEmpty) },
    ExportField("not_ready") { .array($0.instance.unreadiness.map(JSONValue.string)) },
    ExportField("apps") { .array($0.instance.apps.map { .string($0.text) }) },
    ExportField("shared") { .bool($0.instance.doesSharedWork) }, .number("lag_ms") { $0.lag?.milliseconds },
    .number("queue") { Int64($0.instance.queueDepth) },
    .number("clock_ahead_ms") { $0.instance.clockAhead.milliseconds },
    ExportField("notified") { .bool($0.instance.isNotified) }, .text("config") { $0.instance.configuration },
    .text("started_at") { $0.instance.startedAt.rfc3339 }, .text("seen_at") { $0.instance.seenAt.rfc3339 },
  ]

  private static func table(_ lines: [Line], now: Timestamp) -> Table {
    var table = Table(
      [
        .init("INSTANCE"), .init("HOST", canShrink: true), .init("VERSION"), .init("STARTED"),
        .init("READY"), .init("SHARED"), .init("LAG", alignment: .trailing),
        .init("QUEUE", alignment: .trailing),
        .init("CLOCK", alignment: .trailing), .init("CONFIG"), .init("APPS", canShrink: true),
      ], emptyMessage: "No receiptd runs on the database.")
    for line in lines {
      let instance = line.instance
      let isOff = abs(instance.clockAhead.milliseconds) > 2000
      let started = RelativeTime.text(
        of: instance.startedAt.unixMilliseconds, now: now.unixMilliseconds)
      table.add([
        Table.Cell(name(instance)), Table.Cell(instance.host), Table.Cell(instance.version),
        Table.Cell(started),
        instance.unreadiness.isEmpty ? Table.Cell("yes") : Table.Cell("no", .red),
        Table.Cell(instance.doesSharedWork ? "yes" : "-"),
        Table.Cell(line.lag.map { DurationText.text(.seconds($0.components.seconds)) } ?? "-"),
        Table.Cell(count: instance.queueDepth),
        Table.Cell("\(instance.clockAhead.milliseconds) ms", isOff ? .yellow : .plain),
        Table.Cell(instance.configuration),
        Table.Cell(instance.apps.isEmpty ? "-" : instance.apps.map(\.text).joined(separator: " ")),
      ])
    }
    return table
  }

  /// Twelve hexadecimal digits: enough to distinguish the instances of a database.
  private static func name(_ instance: InstanceDescription) -> String {
    let digits = String(UInt64(bitPattern: instance.id), radix: 16)
    return String((String(repeating: "0", count: 16 - digits.count) + digits).prefix(12))
  }

  private static func note(_ lines: [Line], _ configuration: Configuration, _ session: Session) {
    let owned = Set(lines.flatMap(\.instance.apps))
    let missing = configuration.apps.map(\.slug).filter { !owned.contains($0) }
    if !lines.isEmpty, !missing.isEmpty {
      session.output.note(
        "No instance delivers \(missing.map(\.text).joined(separator: ", ")) at this moment: it is being "
          + "acquired, which takes a few seconds, or no instance has it in its configuration.")
    }
    for line in lines where !line.instance.unreadiness.isEmpty {
      session.output.note(
        "The instance \(name(line.instance)) on \(DisplayText.clean(line.instance.host)) is not ready: "
          + "\(line.instance.unreadiness.map(DisplayText.clean).joined(separator: ", ")).")
    }
    if Set(lines.map(\.instance.configuration)).count > 1 {
      session.output.note(
        "The instances have different configurations. Give all the same file, and reload each.")
    } else if Set(lines.map(\.instance.secrets)).count > 1 {
      session.output.note(
        "The instances have the same configuration, but different secrets: some refuse what others accept. "
          + "Give all the same, and reload or restart each.")
    }
    if lines.contains(where: { !$0.instance.isNotified }) {
      session.output.note(
        "Notifications do not reach every instance, as behind a pooler in transaction mode, or in its first "
          + "seconds: it looks for changes every second.")
    }
  }
}
