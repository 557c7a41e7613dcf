// docs/comparison.md says what operators can do in five products. A claim about another product has a source,
// and a claim about this one names a command, an address of the dashboard or a document that exists.

import FoundationEssentials
import Testing

/// The tables of the page, and its sources.
struct ComparisonPage {
  /// The answers to one question of an operator.
  struct Row {
    let question: String
    let others: [String]
    let ours: String
  }

  /// How an answer begins.
  enum Level: String {
    case yes, partly, no
    case notDocumented = "not documented"

    init?(of answer: String) { self.init(rawValue: String(answer.prefix { !"[,:".contains($0) })) }
  }

  let rows: [Row]
  /// By the name of the footnote.
  let sources: [String: String]
  /// The names of all sources that the tables and the sentences refer to.
  let cited: Set<String>

  init(_ text: String) {
    let lines = text.split(separator: "\n")
    rows = lines.compactMap { line in
      let cells = line.matches(of: #/\| *([^|]*?) *(?=\|)/#).map { String($0.1) }
      guard cells.count > 2, cells[0] != "question", cells[0] != "---" else { return nil }
      let last = cells.count - 1
      return Row(question: cells[0], others: Array(cells[1..<last]), ours: cells[last])
    }
    let notes = lines.compactMap { $0.wholeMatch(of: #/\[\^(\w+)\]: (.+)/#) }
    sources = Dictionary(notes.map { (String($0.1), String($0.2)) }) { first, _ in first }
    cited = Set(lines.filter { !$0.hasPrefix("[^") }.flatMap { Self.names(in: String($0)) })
  }

  private static func names(in text: String) -> [String] {
    text.matches(of: #/\[\^(\w+)\]/#).map { String($0.1) }
  }

  /// What is wrong with the page alone.
  func faults() -> [String] {
    rows.flatMap { faults(of: $0) }
      + sources.sorted { $0.key < $1.key }.flatMap { faults(ofSource: $0.key, $0.value) }
      + Set(sources.keys).subtracting(cited).map { "source \($0): nothing refers to it" }
      + cited.subtracting(sources.keys).map { "source \($0): it is not in the list" }
  }

  private func faults(of row: Row) -> [String] {
    var faults = (row.others + [row.ours]).filter { Level(of: $0) == nil }.map {
      "begins with no level: \($0)"
    }
    if row.others.count != 4 { faults.append("has \(row.others.count) answers about other products") }
    faults += row.others.filter { Self.names(in: $0).isEmpty }.map { "has no source: \($0)" }
    if row.others.allSatisfy({ Level(of: $0) == .yes }), Level(of: row.ours) == .no {
      faults.append("all other products have it")
    }
    if Level(of: row.ours) == .yes, row.commands.isEmpty, row.addresses.isEmpty, row.documents.isEmpty {
      faults.append("names no command, address or document: \(row.ours)")
    }
    if row.ours.contains("<!--") { faults.append("still has a remark: \(row.ours)") }
    return faults.map { "\(row.question): \($0)" }
  }

  /// A source is a link, and ends with the date on which it was read.
  private func faults(ofSource name: String, _ text: String) -> [String] {
    var faults: [String] = []
    if !text.contains(#/\]\(https:\/\/[^\s)]+\)/#) { faults.append("no https link") }
    let date = text.firstMatch(of: #/ \((\d{4}-\d\d-\d\d)\)$/#)
    if !(date.map { Self.isDate(String($0.1)) } ?? false) { faults.append("no date, such as (2026-11-20)") }
    return faults.map { "source \(name): \($0)" }
  }

  private static func isDate(_ text: String) -> Bool {
    let day = Date.ISO8601FormatStyle().year().month().day()
    // A text that cannot be parsed is not a date. The format accepts some days that no month has.
    return (try? day.parse(text)).map { $0.formatted(day) == text } ?? false
  }
}

extension ComparisonPage.Row {
  /// The commands of our answer, each with its program.
  var commands: [(program: BuiltProgram, words: String)] {
    ours.matches(of: #/`(receiptctl|receipt-sandbox) ([^`]+)`/#).compactMap { match in
      BuiltProgram(rawValue: String(match.1)).map { ($0, String(match.2)) }
    }
  }
  /// The dashboard's paths in it.
  var addresses: [String] { ours.matches(of: #/`(\/[^`]*)`/#).map { String($0.1) } }
  /// The files that it links to, from the folder of the documents.
  var documents: [String] { ours.matches(of: #/\]\(([^):#]+)(?:#[^)]*)?\)/#).map { String($0.1) } }
}

/// The paths of the dashboard, as its source code has them.
struct DashboardPaths {
  /// `/receipts/{receipt}`, `/jobs/{job}/\(change.rawValue)`, …
  private let routes: [[Substring]]
  /// The names of the cases of its enumerations: a path may end with one.
  private let cases: Set<Substring>

  init(_ files: [RepositoryFile]) {
    let text = files.filter { $0.path.hasPrefix("Sources/Web/Dashboard/") }.map(\.text).joined(
      separator: "\n")
    let pages = text.matches(of: #/\b(?:page|form|post|file|OperatorAction)\(\s*"(\/\S*?)"/#)
      .map { String($0.1) }
    let exported = Set(text.matches(of: #/\bexport\((\w+)\.self\)/#).map(\.1))
    let lists = files.filter { $0.path.hasPrefix("Sources/Reports/Lists/") }.compactMap { file in
      let filter = file.text.firstMatch(of: #/\bextension (\w+): ListFilter\b/#)
      let path = file.text.firstMatch(of: #/\bResource\(\s*"(\w+)"/#)
      return filter.flatMap { exported.contains($0.1) ? path?.1 : nil }
    }
    let exports = lists.flatMap { ["/\($0).csv", "/\($0).json"] }
    routes = (pages + exports).map(Self.parts)
    let cases = text.matches(of: #/(?m)^ *case (\w+(?:, \w+)*)/#)
    self.cases = Set(cases.flatMap { $0.1.split(separator: ", ") })
  }

  func contains(_ path: String) -> Bool {
    let parts = Self.parts(of: path)
    return routes.contains { route in
      route.count == parts.count
        && zip(route, parts).allSatisfy { pattern, part in
          pattern == part || pattern.hasPrefix("{") || pattern.hasPrefix("\\(") && cases.contains(part)
        }
    }
  }

  private static func parts(of path: String) -> [Substring] {
    path.split(separator: "/", omittingEmptySubsequences: false)
  }
}

@Suite struct ComparisonTests {
  private static func page() throws -> ComparisonPage {
    ComparisonPage(try Repository.text(of: "docs/comparison.md"))
  }

  @Test("Each answer has a level and a source, and no question is answered with no by this project alone")
  func pageIsWellFormed() throws {
    let page = try Self.page()
    #expect(page.rows.count > 35)
    for fault in page.faults() { Issue.record("docs/comparison.md: \(fault)") }
  }

  @Test func `The dashboard has each address, and the repository each document`() throws {
    let paths = DashboardPaths(try Repository.files())
    for row in try Self.page().rows {
      for address in row.addresses { #expect(paths.contains(address), "\(row.question): \(address)") }
      for document in row.documents {
        let path = "\(Repository.root)/docs/\(document)"
        #expect(FileManager.default.fileExists(atPath: path), "\(row.question): \(document)")
      }
    }
  }

  @Test(.enabled(if: CommandLineTests.haveCommands, "a program is not beside this test"))
  func `The programs have each command with its options`() throws {
    let verbs = try Dictionary(uniqueKeysWithValues: BuiltProgram.allCases.map { ($0, try $0.verbs()) })
    for row in try Self.page().rows {
      for (program, command) in row.commands {
        guard let verb = verbs[program]?.first(where: { "\(command) ".hasPrefix("\($0) ") }) else {
          Issue.record("\(row.question): \(program.rawValue) has no command \(command)")
          continue
        }
        let help = try program.output(["help"] + verb.split(separator: " ").map(String.init))
        for option in command.matches(of: #/--[a-z-]+/#) {
          #expect(help.contains("\(option.output) "), "\(row.question): \(verb) has no \(option.output)")
        }
      }
    }
  }

  /// A page with these answers to one question, and one source.
  private static func faults(
    _ others: String, ours: String, source: String = "A: [b](https://c.example/d) (2026-11-20)"
  ) -> [String] {
    let table = "| question | A | B | C | D | ours |\n|---|---|---|---|---|---|"
    return ComparisonPage("\(table)\n| Q | \(others) | \(ours) |\n\n[^a]: \(source)\n").faults()
  }

  @Test func `A page without a fault has none`() {
    let others = "yes[^a] | yes, paid[^a] | no: b[^a] | not documented[^a]"
    #expect(Self.faults(others, ours: "yes: `receiptctl find`").isEmpty)
    #expect(Self.faults(others, ours: "yes: [a](a.md#b)").isEmpty)
    #expect(Self.faults("yes[^a] | yes[^a] | yes[^a] | yes: b[^a]", ours: "partly: b").isEmpty)
  }

  @Test func `Each fault of a page is found`() {
    let others = "yes[^a] | yes[^a] | yes: b[^a] | yes, paid[^a]"
    #expect(Self.faults(others, ours: "no: b") == ["Q: all other products have it"])
    #expect(Self.faults(others, ours: "yes").count == 1)
    #expect(Self.faults(others, ours: "maybe").count == 1)
    #expect(Self.faults(others, ours: "partly <!-- check -->").count == 2)
    #expect(Self.faults("yes[^a] | yes[^a] | yes | yes[^b]", ours: "partly: b").count == 2)
    #expect(Self.faults("yes[^a] | yes[^a]", ours: "partly: b").count == 1)
    let link = "[b](https://c.example)"
    for source in ["[b](http://c.example) (2026-11-20)", "\(link) (2026-02-30)", link] {
      #expect(Self.faults(others, ours: "partly: b", source: source).count == 1)
    }
  }

  @Test func `A path of the dashboard is found by its pattern`() {
    let text = """
      page("/jobs/{job}") { }, form("/jobs/{job}/\\(change.rawValue)") { }, export(JobFilter.self)
      case pause, resume
      """
    func list(_ path: String) -> RepositoryFile {
      let filter = "\(path.capitalized)Filter"
      return RepositoryFile(
        path: "Sources/Reports/Lists/\(filter).swift",
        text: "Resource(\n  \"\(path)s\", one: …\nextension \(filter): ListFilter {")
    }
    let paths = DashboardPaths(
      [RepositoryFile(path: "Sources/Web/Dashboard/A.swift", text: text), list("job"), list("event")])
    for path in ["/jobs/job_1", "/jobs/job_1/resume", "/jobs.csv"] { #expect(paths.contains(path)) }
    for path in ["/jobs", "/jobs/job_1/cancel", "/jobs.xml", "/events.csv", "/"] {
      #expect(!paths.contains(path))
    }
  }
}
