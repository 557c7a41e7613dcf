// `receiptctl receipts`: the commands and their options. Their code is in `Receipts/`.

internal import Config
internal import Domain
internal import Platform
internal import Reports
internal import Store
internal import Terminal

enum ReceiptsCommands {
  static let spec = CommandGroup("receipts", summary: "Messages for the destination, one for each purchase")

  static let verbs = [list, show, replay, cancel, complete, correct]

  private static let example = "rcp_01KAGFN9P3V6T2QJ8D4W7XZ5RM"

  /// The fields that filter receipts in a command. `complete` and `correct` supply user and price.
  static func filterFields(of path: [String]) -> [FilterField<ReceiptFilter>] {
    let supplied: Set<String> = ["complete", "correct"].contains(path.last) ? ["user", "price"] : []
    return ReceiptFilter.fields.filter { !supplied.contains($0.name) }
  }

  private static func filterOptions(_ verb: String) -> [OptionSpec] {
    [
      OptionSpec(
        "id", placeholder: "ID",
        help: "Only those of this purchase, payment, checkout session, customer or import, by its whole id")
    ]
      + filterFields(of: ["receipts", verb]).map {
        OptionSpec($0, isHidden: kindsOfID.contains($0.name))
      }
  }

  /// The filters by one kind of id, which `--id` tries.
  private static let kindsOfID = ["object", "session", "customer", "import-id"]

  private static let list = Verb(
    spec: CommandSpec(
      ["receipts", "list"], summary: "List receipts, newest first",
      options: filterOptions("list") + Page.options(of: "receipt"),
      examples: [
        ExampleSpec("receiptctl receipts list --state failed", "Receipts that need attention"),
        ExampleSpec("receiptctl receipts list --state failed --cause timeout", "Failures without an answer"),
        ExampleSpec("receiptctl receipts list --user jdo-1 --since 2d", "One user's latest purchases"),
        ExampleSpec(
          "receiptctl receipts list --status 503 --since 1d", "What the destination answered 503 to"),
        ExampleSpec("receiptctl receipts list --state failed --json | jq -r .id", "Ids for a script"),
      ]),
    run: runList)

  private static let show = Verb(
    spec: CommandSpec(
      ["receipts", "show"], summary: "Show a receipt with its context, its events and every attempt",
      discussion: """
        With the processor's id of a purchase, such as a payment that was only started, it shows what \
        is known of it: its receipt, if it has one, its captures, and when the processor is asked again.
        """,
      arguments: [ArgumentSpec("ID", help: "the receipt, rcp_…, or the processor's id of the purchase")],
      examples: [
        ExampleSpec("receiptctl receipts show \(example)", "Its history, in order of time"),
        ExampleSpec(
          "receiptctl receipts show \(example) --json | jq .attempt_log", "The destination's answer"),
      ]),
    run: ReceiptShow.run)

  private static let manyArgument = ArgumentSpec(
    "ID", help: "the receipts; - reads ids, or lines of JSON, from the input", isRequired: false,
    isRepeatable: true)
  private static let limitOption = OptionSpec(
    "limit", placeholder: "N", help: "At most this many, the newest")
  private static let pacing = [
    OptionSpec("rate", placeholder: "N/s", help: "How many become due each second"),
    OptionSpec(
      flag: "wait", short: "w", help: "Follow until each is delivered or failed; 3 when some failed"),
  ]

  private static let replay = Verb(
    spec: CommandSpec(
      ["receipts", "replay"], summary: "Deliver receipts again",
      discussion: """
        Makes receipts pending again, due now, with a fresh retry budget; their history is kept. Name \
        them by id, or select them with --state and other filters. Shows their number, reasons and ages, \
        then asks. Delivered receipts are sent again only with --force. A selection by filters is \
        a job: it continues when this command is interrupted, releases no more than can be delivered, and \
        with --rate is slower (see receiptctl jobs). New receipts are always delivered first.
        """,
      arguments: [manyArgument],
      options: filterOptions("replay") + [
        limitOption,
        OptionSpec(flag: "force", help: "Send delivered ones again, too"),
      ] + pacing + [CommandTable.why] + CommandTable.asking,
      examples: [
        ExampleSpec("receiptctl receipts replay \(example)", "Replay one"),
        ExampleSpec("receiptctl receipts replay --state failed --dry-run", "Their number and reasons"),
        ExampleSpec(
          "receiptctl receipts replay --state failed --reason gave_up --rate 5/s --wait",
          "After an outage: all given up receipts, slowly"),
        ExampleSpec(
          "receiptctl receipts list --user jdo-1 --json | receiptctl receipts replay - --yes",
          "Receipts that another command lists"),
      ]),
    run: ReceiptReplay.run)

  private static let cancel = Verb(
    spec: CommandSpec(
      ["receipts", "cancel"], summary: "Cancel receipts that must not be delivered",
      discussion: """
        Name them by id, or select them with --state and other filters. Asks when there are several. \
        A delivered receipt cannot be recalled; a cancelled one can be replayed.
        """,
      arguments: [manyArgument],
      options: filterOptions("cancel") + [
        limitOption,
        OptionSpec(
          "why", placeholder: "TEXT", help: "Why, in a few words; kept with the receipt; required"),
      ]
        + CommandTable.asking,
      examples: [
        ExampleSpec("receiptctl receipts cancel \(example) --why 'test purchase'", "Stop one"),
        ExampleSpec(
          "receiptctl receipts cancel --state waiting --until 2d --why 'a test'", "Cancel the rest"),
      ]),
    run: ReceiptCancel.run)

  private static let complete = Verb(
    spec: CommandSpec(
      ["receipts", "complete"], summary: "Supply missing data of receipts, and deliver them",
      discussion: """
        For one receipt, supply its user, its price or a context. For several, by id or by --state and \
        other filters, supply the price that all of them lack, and confirm; --user and --context are \
        refused then, because they differ from receipt to receipt. The content is made again with the \
        present configuration, even if what is supplied is known. A selection by filters is a job, as in \
        receipts replay.
        """,
      arguments: [manyArgument],
      options: filterOptions("complete") + [
        limitOption,
        OptionSpec("user", placeholder: "USER", help: "Your id of the user; not needed when it is known"),
        OptionSpec("price", placeholder: "PRICE", help: "The price that was paid, price_…"),
        OptionSpec("context", placeholder: "ID", help: "An open context of the user, ctx_…"),
        OptionSpec(flag: "force", help: "Also replace a known user or price; one receipt only"),
      ] + pacing + [CommandTable.why] + CommandTable.asking,
      examples: [
        ExampleSpec(
          "receiptctl receipts complete \(example) --user jdo-1", "For a checkout without a user"),
        ExampleSpec(
          "receiptctl receipts complete \(example) --price price_1MbKJHJaEiB9UwXBPt0fFq4O",
          "Supply the price"),
        ExampleSpec(
          "receiptctl receipts complete --state failed --reason price --price price_1MbKJHJaEiB9UwXB",
          "All receipts that lack a price"),
        ExampleSpec(
          "receiptctl receipts complete --state failed --reason http_422 --price price_1MbKJHJaEiB9UwXB "
            + "--rate 5/s",
          "All receipts that the destination refused: with this price, and made again"),
      ]),
    run: ReceiptComplete.run)

  private static let correct = Verb(
    spec: CommandSpec(
      ["receipts", "correct"], summary: "Correct delivered receipts that said something wrong",
      discussion: """
        A delivered receipt cannot be recalled. This makes a second receipt for the same purchase, with \
        another user, price or context, and links both; only the newer one can be sent again. It shows what \
        would be sent, and what the destination does with a second receipt as far as is known, then asks. \
        With another user, a context of that user is chosen as in a join. Several receipts, by id or by \
        --state and other filters, get one user or one price.
        """,
      arguments: [manyArgument],
      options: filterOptions("correct") + [
        limitOption,
        OptionSpec("user", placeholder: "USER", help: "Your id of the right user"),
        OptionSpec("price", placeholder: "PRICE", help: "The right price, price_…"),
        OptionSpec("context", placeholder: "ID", help: "An open context, ctx_…; one receipt only"),
      ] + pacing + [
        OptionSpec("why", placeholder: "TEXT", help: "Why, in a few words; kept in the audit; required")
      ] + CommandTable.asking,
      examples: [
        ExampleSpec(
          "receiptctl receipts correct \(example) --user jdo-1 --why 'bought for another account'",
          "It was sent for the wrong user"),
        ExampleSpec(
          "receiptctl receipts list --user jdo-2 --json | receiptctl receipts correct - --user jdo-1 "
            + "--why 'merged accounts'",
          "All receipts of one user"),
        ExampleSpec(
          "receiptctl receipts correct --state delivered --since 2d --price price_1MbKJHJaEiB9UwXB "
            + "--why 'wrong plan'",
          "All of the last two days had the wrong price"),
      ]),
    run: ReceiptCorrect.run)

  /// The filter that the options of a command describe.
  static func filter(_ session: Session, _ configuration: Configuration) throws -> ReceiptFilter {
    let filter: ReceiptFilter = try session.filter(configuration, of: filterFields(of: session.command.path))
    return try withID(filter, session, configuration)
  }

  private static func runList(_ session: Session) throws -> ExitCode {
    let page = try Page(session)
    let configuration = try session.configuration()
    var filter = try withID(session.filter(configuration, page), session, configuration)
    let reader = try session.reader(configuration)
    return try page.show(session, configuration, ReceiptFilter.resource) { after, limit in
      filter.after = after ?? filter.after
      return try filter.read(reader, limit: limit, now: session.now)
    }
  }

  /// The filter with `--id`: as the kind of id of which there are receipts.
  private static func withID(
    _ filter: ReceiptFilter, _ session: Session, _ configuration: Configuration
  ) throws -> ReceiptFilter {
    guard let id = session.command.options["id"] else { return filter }
    guard kindsOfID.allSatisfy({ !session.command.options.contains($0) }) else {
      throw session.usage("--id and --\(kindsOfID.joined(separator: ", --")) exclude each other")
    }
    let reader = try session.reader(configuration)
    var candidates: [ReceiptFilter] = []
    for field in ReceiptFilter.fields where kindsOfID.contains(field.name) {
      var (candidate, probe) = (filter, ReceiptFilter())
      probe.app = filter.app
      do throws(FilterFault) {
        try candidate.set(field, id, now: session.now)
        try probe.set(field, id, now: session.now)
      } catch {
        throw session.usage("--id \(DisplayText.clean(error.message))")
      }
      if try !probe.read(reader, limit: 1, now: session.now).entries.isEmpty { return candidate }
      candidates.append(candidate)
    }
    return candidates.first ?? filter
  }

  /// The options that select receipts and are given.
  static func givenFilters(_ session: Session) -> [String] {
    (filterFields(of: session.command.path).map(\.name) + ["id", "limit"])
      .filter(session.command.options.contains)
  }

  /// Reports ids without a receipt, and what to do.
  /// - Parameter isSearched: whether no purchase has one of the ids either.
  static func unknown(_ ids: [String], isSearched: Bool = false) -> OperatorFault {
    let shown = ids.prefix(5).map(DisplayText.clean).joined(separator: ", ")
    let more = ids.count > 5 ? " and \(CountText.grouped(ids.count - 5)) more" : ""
    let subject = ids.count == 1 ? "there is no receipt \(shown)" : "there are no receipts \(shown)\(more)"
    let hint: String
    if isSearched {
      hint =
        "no purchase, payment or checkout session has this id either. Ids are compared exactly; receipts are "
        + "in: receiptctl receipts list"
    } else if let object = ids.first(where: { !$0.hasPrefix(ReceiptID.prefix) }) {
      hint =
        "find the receipt of a purchase with: receiptctl receipts list --id \(ShellWord.quoted(object))"
    } else {
      hint = "ids are in: receiptctl receipts list"
    }
    return OperatorFault(.notFound, "\(subject); \(hint)")
  }
}
