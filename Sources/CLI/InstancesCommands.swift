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
      run: run)
  ]

  /// An instance with the age of its oldest due receipt.
  private struct Line {
    var instance: InstanceDescription
    var lag: Duration?
  }

  private static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    guard let (now, running) = try session.instances(configuration) else {
      throw OperatorFault(
        .refused,
        "the database is a file, which one receiptd uses at a time; see receiptctl status. Instances need a "
          + "PostgreSQL database: set `database` to its URL")
    }
    let reader = try session.reader(configuration)
    let lines = try running.map { instance in
      let oldest = try instance.apps.compactMap { try reader.oldestPending(app: $0) }.min()
      return Line(instance: instance, lag: oldest.map { max(.zero, now.duration(since: $0)) })
    }
    let format = try ListFormat(session)
    session.show(lines, list, format, configuration, now: now)
    if format == .table { note(lines, configuration, session) }
    return .done
  }

  private static let list = Resource(
    "instances", one: "instance", emptyTable: "No receiptd runs on the database.", fields,
    table: [
      "id", "host", "version", "started_at", "ready", "shared", "lag_ms", "queue", "clock_ahead_ms", "config",
      "apps",
    ])

  private static let fields: [ListField<Line>] = [
    .text("id") { name($0.instance) }.titled("Instance"),
    .text("host") { $0.instance.host }.titled("Host", .shrinks),
    .text("version") { $0.instance.version }.titled("Version"),
    .flag("ready") { $0.instance.unreadiness.isEmpty }.titled("Ready") { line in
      line.instance.unreadiness.isEmpty ? .text("yes") : .text("no", .bad)
    },
    .json("not_ready") { .array($0.instance.unreadiness.map(JSONValue.string)) },
    .json("apps") { .array($0.instance.apps.map { .string($0.text) }) }.titled("Apps", .shrinks) { line in
      let apps = line.instance.apps
      return apps.isEmpty ? nil : .text(apps.map(\.text).joined(separator: " "))
    },
    .flag("shared") { $0.instance.doesSharedWork }.titled("Shared") {
      $0.instance.doesSharedWork ? .text("yes") : nil
    },
    .number("lag_ms") { $0.lag?.milliseconds }.titled("Lag") { line in
      line.lag.map { .text(DurationText.text(.seconds($0.components.seconds))) }
    },
    .number("queue") { Int64($0.instance.queueDepth) }.titled("Queue"),
    .number("clock_ahead_ms") { $0.instance.clockAhead.milliseconds }.titled("Clock") { line in
      let ahead = line.instance.clockAhead.milliseconds
      return .text("\(ahead) ms", abs(ahead) > 2000 ? .pending : .plain)
    },
    .flag("notified") { $0.instance.isNotified },
    .text("config") { $0.instance.configuration }.titled("Config"),
    .time("started_at") { $0.instance.startedAt }.titled("Started"),
    .time("seen_at") { $0.instance.seenAt },
  ]

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
