// The runbook, docs/operations.md and docs/runbook, as a list of commands with their output, to be run again
// and compared. With RECORD_SNAPSHOTS set, the current output is written into the pages instead. Pure, except
// for reading and writing the pages.

import FoundationEssentials
import Platform
import Testing

/// The pages of the runbook.
struct Runbook {
  /// One command with its documented output.
  struct Step {
    /// Stands for lines of the output that the page leaves out.
    static let omission = "…"

    var command: String
    var printed: [String]

    /// Whether it shows the state of everything, the database included.
    var isOfWholeRelay: Bool {
      command.hasPrefix("receiptctl doctor") || command.hasPrefix("receiptctl status")
    }

    /// The lines of `output` that this step documents, with omissions between them.
    /// - Returns: nil if the output is not what the step documents.
    func excerpt(of output: [String]) -> [String]? {
      let parts = printed.split(separator: Self.omission, omittingEmptySubsequences: false)
      var excerpt: [String] = []
      var rest = output[...]
      for (number, part) in parts.enumerated() {
        let wanted = part.map(RunbookLine.init)
        let starts: [Int]
        if number == parts.count - 1 {
          // The last part is the end of the output; the only part is all of it.
          starts = [rest.endIndex - wanted.count]
        } else {
          starts = number == 0 ? [rest.startIndex] : Array(rest.indices)
        }
        let start = starts.first { start in
          start >= rest.startIndex && (number > 0 || start == rest.startIndex)
            && rest[start...].prefix(wanted.count).map(RunbookLine.init) == wanted
        }
        guard let start else { return nil }
        if number > 0 { excerpt.append(Self.omission) }
        excerpt += rest[start...].prefix(wanted.count)
        rest = rest[(start + wanted.count)...]
      }
      return excerpt
    }
  }

  private static let documents = "\(Program.repository)/docs"

  /// The paths of the pages.
  private static func paths() throws -> [String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(documents)/runbook")
    return ["\(documents)/operations.md"]
      + names.filter { $0.hasSuffix(".md") }.sorted().map { "\(documents)/runbook/\($0)" }
  }

  private static func lines(of path: String) throws -> [Substring] {
    let page = String(decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self)
    return page.split(separator: "\n", omittingEmptySubsequences: false)
  }

  static var isRecording: Bool { Environment.process["RECORD_SNAPSHOTS"] != nil }

  /// The titles of the sections that have commands.
  static let titles: [String] = {
    // Unreadable pages have no sections; a test checks that there are some.
    let runbook = try? Runbook()
    return runbook?.sections.filter { !$0.steps.isEmpty }.map(\.title) ?? []
  }()

  private(set) var sections: [(title: String, steps: [Step])] = []

  init() throws {
    for path in try Self.paths() {
      // The lines before a page's first section belong to none.
      sections.append(("", []))
      read(try Self.lines(of: path))
    }
  }

  private mutating func read(_ lines: [Substring]) {
    var isConsole = false
    for line in lines {
      if line.hasPrefix("## ") {
        sections.append((String(line.dropFirst(3)), []))
      } else if line.hasPrefix("```") {
        isConsole = line == "```console"
      } else if isConsole {
        let last = sections.count - 1
        if line.hasPrefix("$ ") {
          sections[last].steps.append(Step(command: String(line.dropFirst(2)), printed: []))
        } else if !sections[last].steps.isEmpty {
          sections[last].steps[sections[last].steps.count - 1].printed.append(String(line))
        }
      }
    }
  }

  func steps(of title: String) throws -> [Step] {
    try #require(sections.first { $0.title == title }).steps
  }

  /// Writes the output of a section's commands into its page.
  static func record(_ steps: [Step], in title: String) throws {
    let path = try #require(try paths().first { try lines(of: $0).contains("## \(title)") })
    var out: [String] = []
    var rest = steps[...]
    var isHere = false
    var isConsole = false
    for line in try lines(of: path) {
      if line.hasPrefix("## ") { isHere = line.dropFirst(3) == title }
      if line.hasPrefix("```") { isConsole = line == "```console" }
      guard isHere, isConsole, line != "```console" else {
        out.append(String(line))
        continue
      }
      if line.hasPrefix("$ "), let step = rest.popFirst() { out += ["$ \(step.command)"] + step.printed }
    }
    try #require(
      FileManager.default.createFile(atPath: path, contents: Data(out.joined(separator: "\n").utf8)))
  }
}

/// A line without the values that differ from run to run.
struct RunbookLine: Equatable, CustomStringConvertible {
  let description: String

  init(_ line: String) {
    var text = line
    text = text.replacing(/\b(rcp|ctx|job)_[0-9A-Z]{26}\b/) { "\($0.output.1)_ID" }
    text = text.replacing(/\b(evt|sub|cs|cus|req|imp)[_-][0-9A-Za-z_-]+\b/) { "\($0.output.1)_ID" }
    text = text.replacing(/\bcallback_\d+_[0-9a-f]+/, with: "callback_ID")
    text = text.replacing(/\/psp\/paymentorders\/[0-9a-f-]+/, with: "/psp/paymentorders/ID")
    text = text.replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/, with: "TIME")
    text = text.replacing(/(\d{4}-\d\d-\d\d )?\d\d:\d\d UTC/, with: "TIME")
    text = text.replacing(/\b\d{4}-\d\d-\d\d\b/, with: "DAY")
    text = text.replacing(/erased:[0-9a-f]+/, with: "erased:HASH")
    // The ids of relays, and digests of their configurations.
    text = text.replacing(/\b[0-9a-f]{12}\b/, with: "HEX")
    text = text.replacing(/-?\b(in )?(\d+\.)?\d+ (ms|s|min|h|d)\b( ago)?/, with: "SPAN")
    text = text.replacing(/\b(just )?now\b/, with: "SPAN")
    text = text.replacing(/\b(\d+\.)?\d+ %/, with: "SHARE")
    text = text.replacing(/\b\d+\.\d+\/s/, with: "RATE/s")
    text = text.replacing(/-restore-\d+/, with: "-restore-N")
    text = text.replacing(/\bprocess \d+/, with: "process N")
    text = text.replacing(/\d+(\.\d+)? [GM]iB( free|; to check)/) { "SIZE\($0.output.2)" }
    // The width of a table depends on its content.
    text = text.split(separator: " ").joined(separator: " ")
    // How often a fetch was tried until the command ran.
    text = text.replacing(/no answer SPAN \d+ SPAN/, with: "no answer SPAN N SPAN")
    // How many requests waited at a relay just then.
    text = text.replacing(/\b(yes|no) (-|SPAN) \d+ (-|SPAN) HEX\b/) { row in
      "\(row.output.1) \(row.output.2) N \(row.output.3) HEX"
    }
    description = text
  }
}
