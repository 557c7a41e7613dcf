// Every command of receiptctl, by command group: the one table that parses, prints help and finds the code to
// run. Pure; any thread.

internal import Config
internal import Service
internal import Terminal

typealias Verb = CommandVerb<Session>

enum CommandTable {
  /// In the order of help. A new command group is a file in this folder and its line here.
  static let verbs: [Verb] =
    [StatusCommand.verb, ShowCommand.verb] + ReceiptsCommands.verbs + AttemptsCommands.verbs
    + FailuresCommands.verbs + JobsCommands.verbs
    + PaymentsCommands.verbs
    + EventsCommands.verbs
    + ContextsCommands.verbs + ClaimsCommands.verbs
    + UsersCommands.verbs + [FindCommand.verb]
    + StatsCommands.verbs + [DoctorCommand.verb, ReadyCommand.verb] + AppsCommands.verbs
    + InstancesCommands.verbs
    + AlertsCommands.verbs
    + AuditCommands.verbs
    + DatabaseCommands.verbs
    + ConfigurationCommands.verbs
    + [ReloadCommand.verb] + LinksCommands.verbs + ReferenceVerbs.verbs

  static let spec = ProgramSpec(
    name: OperatorProgram.name, version: Version.number, origin: Version.origin,
    summary: "inspect a relay and fix problems",
    discussion: """
      Works on the database that the configuration names, whether receiptd runs or not, and wakes receiptd \
      after a change. Times are relative in tables and RFC 3339 with --json; remarks about a result \
      go to stderr. Exit status: 0 success, 1 failed, 3 a part of it failed, 64 usage, 65 bad \
      data, 66 not found, 69 unavailable, 75 try again, 77 refused, 78 configuration.
      """,
    options: [
      OptionSpec(
        "config", placeholder: "PATH",
        help: "The configuration file; else $\(ConfigurationLoader.pathVariable), else "
          + ConfigurationLoader.defaultPath
      ),
      OptionSpec(flag: "json", help: "One JSON object per line instead of a table"),
      OptionSpec(
        flag: "no-input", help: "Never ask; refuse commands that need an answer, unless --yes is given"),
    ],
    groups: [
      ReceiptsCommands.spec, AttemptsCommands.spec, FailuresCommands.spec, JobsCommands.spec,
      PaymentsCommands.spec,
      EventsCommands.spec,
      ContextsCommands.spec, ClaimsCommands.spec,
      UsersCommands.spec, AppsCommands.spec, InstancesCommands.spec, AlertsCommands.spec,
      AuditCommands.spec, DatabaseCommands.spec, ConfigurationCommands.spec, LinksCommands.spec,
    ],
    commands: verbs.map(\.spec),
    sections: [
      HelpSection(
        "Look", ["status", "show", "find"], also: ["attempts", "events", "contexts", "users", "audit"]),
      HelpSection("Fix", ["receipts", "failures", "payments"], also: ["jobs", "claims"]),
      HelpSection(
        "Run", ["apps", "alerts", "db", "reload"], also: ["ready", "instances"]),
      HelpSection("Set up", ["doctor", "config", "links"], also: ["completions", "manual"]),
    ],
    words: ["APP": "words apps", "REASON": "words reasons", "R": "words reasons", "JOB": "words jobs"],
    examples: [
      ExampleSpec("receiptctl status", "What is wrong, and the state of each app"),
      ExampleSpec("receiptctl find cus_NffrFeUfNV2Hib", "What any id, or an e-mail address, is about"),
      ExampleSpec("receiptctl receipts list --state failed", "Receipts that need attention"),
      ExampleSpec("receiptctl receipts show rcp_01KAGFN9P3V6T2QJ8D4W7XZ5RM", "The history of one receipt"),
      ExampleSpec(
        "receiptctl receipts replay --state failed --wait", "Replay all failed receipts, and watch"),
    ])

  /// `--yes` and `--dry-run`, for every command that asks for confirmation.
  static let asking = [
    OptionSpec(flag: "yes", short: "y", help: "Do not ask"),
    OptionSpec(flag: "dry-run", short: "n", help: "Only show the effect"),
  ]
}
