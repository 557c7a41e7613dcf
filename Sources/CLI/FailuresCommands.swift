// `receiptctl failures`: groups of failed receipts, and who takes care of them.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Store
internal import Terminal

enum FailuresCommands {
  static let spec = CommandGroup(
    "failures", summary: "Failed receipts by reason and cause, and who takes care of them")

  static let verbs = [list, ack, reopen]

  private static let wordsMax = 500
  private static let choice = [
    OptionSpec("app", placeholder: "APP", help: "Only this app"),
    OptionSpec("processor", placeholder: "NAME", help: "Only payments of this processor"),
    OptionSpec("reason", placeholder: "R", help: "Only those with this reason"),
    OptionSpec("cause", placeholder: "C", help: "Only those with this last cause"),
  ]

  private static let list = Verb(
    spec: CommandSpec(
      ["failures", "list"], summary: "List groups of failed receipts, those that need attention first",
      discussion: """
        STATE is new until somebody acknowledges the group, then acknowledged, and growing once more \
        receipts have failed than at that time. A group without failed receipts is not listed: a replay \
        resolves it.
        """,
      options: choice + [ListFormat.option],
      examples: [
        ExampleSpec("receiptctl failures list", "What has failed, and who takes care of it"),
        ExampleSpec("receiptctl failures list --json | jq 'select(.state != \"acknowledged\")'", "Open ones"),
      ]), run: runList)

  private static let ack = Verb(
    spec: CommandSpec(
      ["failures", "ack"], summary: "Acknowledge groups: they stay quiet until they grow",
      discussion: """
        Quiet means: no alert receipt_failed, not red in status and in the dashboard. The owner and the note \
        are kept until the group has no failed receipt. Write no data of a user into the note. Shows the \
        groups and asks first, unless the options choose one group.
        """,
      options: choice + CommandTable.asking + [
        OptionSpec("owner", placeholder: "NAME", help: "Who takes care of it; your user name without it"),
        OptionSpec("why", placeholder: "TEXT", help: "What is being done", aliases: ["note"]),
        OptionSpec(flag: "undo", help: "Take the acknowledgement back: the groups are loud again"),
      ],
      examples: [
        ExampleSpec(
          "receiptctl failures ack --app ios --reason http_422 --why 'price mapping, asked Purchasely'",
          "One reason of one app"),
        ExampleSpec("receiptctl failures ack --app ios --reason http_422 --undo", "Loud again"),
      ]), run: { try $0.command.flag("undo") ? runReopen($0) : runAck($0) })

  private static let reopen = Verb(
    spec: CommandSpec(
      ["failures", "reopen"], summary: "Take an acknowledgement back",
      discussion: "Shows the groups and asks first, unless the options choose one group.",
      options: choice + CommandTable.asking,
      examples: [ExampleSpec("receiptctl failures reopen --app ios --reason http_422", "Loud again")],
      isHidden: true), run: runReopen)

  private static func filter(_ session: Session, _ configuration: Configuration) throws -> FailureChoice {
    let options = session.command.options
    if let reason = options["reason"], let fault = Reason.fault(in: reason) {
      throw session.usage("--reason is wrong: \(fault)")
    }
    return FailureChoice(
      app: try session.app(configuration), processor: options["processor"].map(ProcessorName.init),
      reason: options["reason"], cause: options["cause"])
  }

  private static func runList(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    return try session.show(
      filter(session, configuration), limit: FailureChoice.groupsMax, session.reader(configuration),
      configuration,
      more: "Only \(CountText.grouped(FailureChoice.groupsMax)) groups are listed; use --app.")
  }

  private static func runAck(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let owner = try words("owner", session) ?? session.dependencies.actor
    let note = try words("why", session) ?? ""
    let reason = note.isEmpty ? nil : note
    guard
      let count = try change(
        "acknowledge", session, configuration, reason,
        { group, choice in
          AcknowledgeFailures(
            app: group.app, choice, owner: owner, note: note, actor: session.dependencies.actor)
        })
    else { return .done }
    session.output.line(
      "Acknowledged \(CountText.of(count, "group")); \(count == 1 ? "it stays" : "they stay") quiet until "
        + "more receipts fail.")
    return .done
  }

  private static func runReopen(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    guard
      let count = try change("reopen", session, configuration, nil, { ReopenFailures(app: $0.app, $1) })
    else { return .done }
    session.output.line("Opened \(CountText.of(count, "group")) again.")
    return .done
  }

  private static func words(_ option: String, _ session: Session) throws -> String? {
    guard let text = session.command.options[option] else { return nil }
    guard !text.allSatisfy(\.isWhitespace) else { throw session.usage("--\(option) needs a few words") }
    guard text.count <= wordsMax else {
      throw session.usage("--\(option) has at most \(wordsMax) characters")
    }
    return text
  }

  /// Applies a command to each group that the operator has chosen and confirmed.
  /// - Returns: how many groups it changed; nil after a dry run.
  private static func change<Command: StoreCommand>(
    _ verb: String, _ session: Session, _ configuration: Configuration, _ reason: String?,
    _ command: (FailureGroup, FailureChoice) -> Command
  ) throws -> Int? where Command.Outcome == Int {
    let filter = try filter(session, configuration)
    let groups = try session.reader(configuration).failures(filter, limit: FailureChoice.groupsMax)
    guard !groups.isEmpty else {
      throw OperatorFault(.notFound, "no receipt has failed like that; see: receiptctl failures list")
    }
    let counted = CountText.of(groups.count, "group")
    if session.command.flag("dry-run") {
      session.show(groups, FailureResource.list, session.isJSON ? .json : .table, configuration)
      if !session.isJSON { session.output.line("Would \(verb) \(counted); nothing was changed.") }
      return nil
    }
    if groups.count > 1 || filter == FailureChoice() {
      session.output.note(session.table(groups, FailureResource.list, configuration))
      try session.ask("\(verb.capitalizedFirst) \(counted)?")
    }
    // Exactly the groups that were shown: another may be new since.
    let commands = groups.map { group in
      let choice = FailureChoice(
        processor: group.processor, reason: group.reason, cause: group.cause ?? "")
      let entry = session.auditEntry(
        app: group.app, reason: reason,
        details: [
          "reason": .string(group.reason), "cause": .optional(group.cause),
          "processor": .string(group.processor.text),
        ])
      return Audited(command(group, choice)) { $0 == 0 ? nil : entry }
    }
    let counts = try session.writer(configuration, usesApps: false)
      .apply(CommandList(commands), now: session.moment)
    session.wakeDaemon(configuration)
    return counts.reduce(0, +)
  }
}
