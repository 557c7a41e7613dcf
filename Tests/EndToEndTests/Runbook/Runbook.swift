// docs/operations.md as a list of commands with their output, to be run again and compared. With
// RECORD_SNAPSHOTS set, the current output is written into the page instead. Pure, except for reading and
// writing the page.

import FoundationEssentials
import Platform
import Testing

/// The page.
struct Runbook {
  /// One command with its documented output.
  struct Step {
    var command: String
    var printed: [String]
  }

  private static let path = "\(Program.repository)/docs/operations.md"

  static var isRecording: Bool { Environment.process["RECORD_SNAPSHOTS"] != nil }

  /// The titles of the sections that have commands.
  static let titles: [String] = {
    // An unreadable page has no sections; a test checks that there are some.
    let runbook = try? Runbook()
    return runbook?.sections.filter { !$0.steps.isEmpty }.map(\.title) ?? []
  }()

  private(set) var sections: [(title: String, steps: [Step])] = []

  init() throws {
    let bytes = try #require(FileManager.default.contents(atPath: Self.path))
    var isConsole = false
    for line in String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    {
      if line.hasPrefix("## ") {
        sections.append((String(line.dropFirst(3)), []))
      } else if line.hasPrefix("```") {
        isConsole = line == "```console"
      } else if isConsole, !sections.isEmpty {
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

  /// Writes the output of a section's commands into the page.
  static func record(_ steps: [Step], in title: String) throws {
    let page = String(decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self)
    var out: [String] = []
    var rest = steps[...]
    var isHere = false
    var isConsole = false
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
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
