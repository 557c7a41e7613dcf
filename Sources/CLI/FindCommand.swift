// `receiptctl find`: what an id of any kind, or the beginning of one, is about.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Store
internal import Terminal

enum FindCommand {
  static let verb = Verb(
    spec: CommandSpec(
      ["find"], summary: "Find purchases, contexts and events by any id, or an e-mail address",
      discussion: """
        X is any id: of a receipt, context, event, purchase, checkout session, customer, import or user; of \
        a payment (pi_…), an invoice (in_…) or a charge (ch_…) that an event names; your reference of a \
        payment that the relay started, or the reference of a checkout, such as an order number, while its \
        event is stored; or a URL of a processor's dashboard that ends with an id. It may \
        also be an e-mail address in an event, or the price of receipts, of which the newest are compared; \
        ends with 3 if there are more. If nothing has exactly this id, ids that begin or end with X \
        are found, if it has at least \(FindQuery.partMin) characters after its prefix. Ends with 66 when \
        nothing is found.
        """,
      arguments: [ArgumentSpec("X", help: "the id, a part of it, or an e-mail address")],
      options: [OptionSpec("app", placeholder: "APP", help: "Only what belongs to this app")]
        + [
          ListFormat.option,
          OptionSpec(
            "since", placeholder: "TIME",
            help: "Only those made or received then or later: \(MomentText.forms)"),
          OptionSpec("until", placeholder: "TIME", help: "Only those made or received before then"),
          OptionSpec(
            "limit", placeholder: "N",
            help:
              "At most this many, the newest; default \(Page.limitDefault), at most \(StoreReader.findMax)"),
        ],
      examples: [
        ExampleSpec("receiptctl find cus_NffrFeUfNV2Hib", "The purchases of a customer"),
        ExampleSpec("receiptctl find sub_1MowQVLkdIw", "By the beginning of an id"),
        ExampleSpec(
          "receiptctl find ann@example.com --since 2026-11-20", "A customer who writes, and since when"),
      ]), run: run)

  private static func run(_ session: Session) throws -> ExitCode {
    let typed = session.command.positionals[0]
    guard let query = FindQuery(typed, folders: ProcessorRegistry.standard.idFolders) else {
      throw session.usage(
        "X must be 1 to \(UntrustedText.identifierBytesMax) bytes without control characters")
    }
    let limit =
      try session.command.integer("limit", in: 1...StoreReader.findMax) ?? Page.limitDefault
    let configuration = try session.configuration()
    var filter = FindFilter()
    filter.app = try session.app(configuration)
    filter.since = try session.time("since")
    filter.until = try session.time("until")
    let reader = try session.reader(configuration)
    let found = try reader.find(
      query, filter, mentions: ProcessorRegistry.standard.mentions, now: session.now, limit: limit)
    if let note = FoundText.indexing(found) { session.output.note(note) }
    guard !found.list.isEmpty else {
      throw nothing(query, found, isFiltered: filter != FindFilter())
    }
    let format = try ListFormat(session)
    session.show(found.list.map(FoundText.init), FoundResource.list, format, configuration)
    let code = more(found, format, session)
    if format == .table { noteDetails(found, session) }
    return code
  }

  /// Reports what was searched, and what to try.
  static func nothing(_ query: FindQuery, _ found: Findings, isFiltered: Bool = false) -> OperatorFault {
    let why = FoundText.nothing(query, found, isFiltered: isFiltered)
    return OperatorFault(
      .notFound, "\(DisplayText.clean(query.text)): \(why); \(FoundText.next(isFiltered: isFiltered))")
  }

  /// Says whether there is more.
  private static func more(_ found: Findings, _ format: ListFormat, _ session: Session) -> ExitCode {
    if let compared = found.compared {
      return session.partly(
        compared, format,
        "Only the newest \(CountText.grouped(compared)) receipts were compared with this price; give --since "
          + "or --until, or list all: receiptctl receipts list --all --json --price PRICE")
    }
    if found.isCut {
      session.output.note(
        "More: these are the newest that were read; give more of the id, --since or --until")
    }
    return .done
  }

  /// Says what to run next.
  private static func noteDetails(_ found: Findings, _ session: Session) {
    guard let newest = found.list.first else { return }
    let id = ShellWord.quoted(FoundText(newest).id.text)
    let group =
      switch newest.item {
      case .purchase: "receipts"
      case .context: "contexts"
      case .event: "events"
      }
    session.output.note("Details: receiptctl \(group) show \(id)")
  }
}
