// `receiptctl show`: opens anything by its id, with the command of its group. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Reports
internal import Store
internal import Terminal

enum ShowCommand {
  /// Jobs among which a shortened id is looked up, the newest.
  private static let jobsMax = 1000

  static let verb = Verb(
    spec: CommandSpec(
      ["show"], summary: "Show a receipt, context, event, job, purchase or user by its id",
      discussion: """
        ID is the id of any of them, of a purchase also the processor's; or the beginning or the end of one, \
        with at least \(FindQuery.partMin) characters after its prefix. The output is that of receipts show, \
        contexts show, events show, jobs show or users show. If several have such an id, they are listed, \
        and it ends with 3.
        """,
      arguments: [ArgumentSpec("ID", help: "any id, or a part of one")],
      examples: [
        ExampleSpec("receiptctl show rcp_01KAGFN9P3V6T2QJ8D4W7XZ5RM", "The history of a receipt"),
        ExampleSpec("receiptctl show sub_1MowQVLkdIw", "By the beginning of a processor's id"),
        ExampleSpec("receiptctl show jdo-1", "Everything about a user"),
      ]), run: run)

  private static func run(_ session: Session) throws -> ExitCode {
    let typed = session.command.positionals[0]
    if ReceiptID(typed).isWellFormed { return try open("receipts", typed, session) }
    if ContextID(typed).isWellFormed { return try open("contexts", typed, session) }
    if JobID(typed).isWellFormed { return try open("jobs", typed, session) }
    guard let query = FindQuery(typed, folders: ProcessorRegistry.standard.idFolders) else {
      throw session.usage(
        "ID must be 1 to \(UntrustedText.identifierBytesMax) bytes without control characters")
    }
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    if let job = try job(query.text, reader) { return try open("jobs", job, session) }
    let found = try reader.find(
      query, FindFilter(), mentions: ProcessorRegistry.standard.mentions, now: session.now,
      limit: StoreReader.findMax)
    // What belongs to a user is part of the user's page.
    let hits = found.list.filter { $0.match != .user }
    let places = Set(hits.map(Place.init))
    guard let place = places.first else {
      do {
        return try open("users", query.text, session)
      } catch let fault as OperatorFault where fault.code == .notFound {
        throw FindCommand.nothing(query, found)
      }
    }
    guard places.count > 1 else { return try open(place.group, place.id, session) }
    session.show(
      hits.map(FoundText.init), FoundResource.list, session.isJSON ? .json : .table, configuration)
    session.output.note("Several have such an id: show one of those in the list.")
    return .partly
  }

  /// The job whose id begins so; nil if none does, or several do.
  private static func job(_ text: String, _ reader: StoreReader) throws -> String? {
    guard text.hasPrefix(JobID.prefix), text.count > JobID.prefix.count else { return nil }
    let ids = try reader.jobs(JobFilter(), limit: jobsMax).map(\.id.text).filter { $0.hasPrefix(text) }
    return ids.count == 1 ? ids[0] : nil
  }

  /// Where an id is shown.
  private struct Place: Hashable {
    let group: String
    let id: String

    init(_ hit: SearchHit) {
      id = FoundText(hit).id.text
      switch hit.item {
      case .purchase: group = "receipts"
      case .context: group = "contexts"
      case .event: group = "events"
      }
    }
  }

  /// Runs the group's own command with the same shared options.
  private static func open(_ group: String, _ id: String, _ session: Session) throws -> ExitCode {
    var words = [group, "show"]
    for option in CommandTable.spec.options where session.command.flag(option.name) {
      words += ["--\(option.name)"] + (option.isFlag ? [] : [session.command.options[option.name] ?? ""])
    }
    guard case .run(let command) = try CommandParser(CommandTable.spec).parse(words + ["--", id]),
      let verb = CommandTable.verbs.first(where: { $0.spec.path == command.path })
    else { return .usage }
    return try verb.run(Session(command, session.dependencies))
  }
}
