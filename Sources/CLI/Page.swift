// Pages of lists: the number of rows, and the command that shows the next page. Pure; any thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Store
internal import Terminal

/// The page that a list command shows, or with `--all` every page.
struct Page {
  static let limitDefault = 50
  static let limitMax = 10_000
  /// Entries that `--all` reads at once.
  static let slice = 1000

  /// `--limit`, `--after` and the options for other programs, of every list.
  static func options(of what: String) -> [OptionSpec] {
    [
      OptionSpec("limit", placeholder: "N", help: "At most this many; default \(limitDefault)"),
      OptionSpec("after", placeholder: "ID", help: "Start after this \(what): the next page"),
      OptionSpec(
        flag: "all", help: "Every \(what), not only a page; with --csv or --json, which it writes as it reads"
      ),
      ListFormat.option,
    ]
  }

  let limit: Int
  let after: String?
  let format: ListFormat
  private let isAll: Bool

  init(_ session: Session) throws {
    limit = try session.command.integer("limit", in: 1...Self.limitMax) ?? Self.limitDefault
    after = session.command.options["after"]
    isAll = session.command.flag("all")
    format = try ListFormat(session)
    if isAll, session.command.options.contains("limit") {
      throw session.usage("--all and --limit exclude each other")
    }
    if isAll, format == .table {
      throw session.usage("--all writes for other programs: add --csv or --json")
    }
  }

  /// Prints the page, or with `--all` every page.
  /// - Returns: `partly` if entries that may match were not compared, so that an empty page proves nothing.
  /// - Parameters:
  ///   - word: the position of an entry, if `--after` accepts another form than URLs.
  ///   - fetch: reads a page after a position; nil is the start of the list.
  func show<Row, Position: ListPosition>(
    _ session: Session, _ configuration: Configuration, _ resource: Resource<Row>,
    word: ((Row) -> String)? = nil,
    fetch: (Position?, _ limit: Int) throws -> ListPage<Row, Position>
  ) throws -> ExitCode {
    var page = try fetch(nil, isAll ? Self.slice : limit)
    let compared = page.compared.map { "the newest \(CountText.grouped($0)) \(resource.one)s" }
    session.show(
      page.entries, resource, format, configuration,
      empty: compared.map { "None of \($0) matches; the others were not compared." })
    while isAll, let next = page.next, !session.output.result.isClosed {
      page = try fetch(next, Self.slice)
      session.add(page.entries, resource, format)
    }
    guard !isAll, let next = page.next else { return .done }
    let last = page.entries.last.flatMap { word?($0) } ?? next.position
    let command = try Self.command(session, after: last)
    if let compared {
      if format == .json {
        session.output.json([
          "compared": .optional(page.compared.map(Int64.init)), "complete": false, "next": .string(last),
        ])
      }
      session.output.note("Compared \(compared) that may match. To look further: \(command)")
      return .partly
    }
    session.output.note("More: \(command)")
    return .done
  }

  /// The same command starting after `last`. Relative times become absolute, so that the next page covers the
  /// same period.
  private static func command(_ session: Session, after last: String) throws -> String {
    let command = session.command
    var words = [OperatorProgram.name] + command.path
    let options = command.spec.options.filter { $0.name != "after" } + CommandTable.spec.options
    for option in options {
      if option.isFlag {
        if command.flag(option.name) { words.append("--\(option.name)") }
        continue
      }
      let isTime = option.name == "since" || option.name == "until"
      let time = isTime ? try session.time(option.name)?.text : nil
      for value in command.options.all(option.name) {
        words += ["--\(option.name)", ShellWord.quoted(time ?? value)]
      }
    }
    return (words + ["--after", ShellWord.quoted(last)]).joined(separator: " ")
  }
}

extension Session {
  /// Runs a command that lists.
  func list<Filter: ListFilter>(_: Filter.Type) throws -> ExitCode {
    let page = try Page(self)
    let configuration = try configuration()
    var filter: Filter = try filter(configuration, page)
    let reader = try reader(configuration)
    return try page.show(self, configuration, Filter.resource) { after, limit in
      filter.after = after ?? filter.after
      return try filter.read(reader, limit: limit, now: now)
    }
  }

  /// The filter that the options describe, with `--after`.
  func filter<Filter: ListFilter>(_ configuration: Configuration, _ page: Page) throws -> Filter {
    var filter: Filter = try filter(configuration)
    do throws(FilterFault) {
      if let after = page.after { try filter.continue(after: after) }
    } catch {
      throw usage("--\(error.name) \(error.message)")
    }
    return filter
  }
}
