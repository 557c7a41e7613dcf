// docs/commands.md names every command of the programs. The lists come from the programs of the same build.

import Foundation
import TestSupport
import Testing

/// A program with commands, from the same build.
enum BuiltProgram: String, CaseIterable {
  case receiptctl
  case sandbox = "receipt-sandbox"

  /// Its path; the test program is in the same folder.
  var path: String? {
    // Without a program there is no path; the test then reports why it is skipped.
    guard let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
      return nil
    }
    let path = URL(filePath: own).deletingLastPathComponent().appending(component: rawValue).path
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
  }

  /// The program's output.
  func output(_ arguments: [String]) throws -> String {
    try ShellRun([try #require(path)] + arguments).output
  }

  /// The first words of a section of a help text: `Commands:`, then lines with two columns.
  static func names(in section: String, of help: String) -> [String] {
    let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
    guard let title = lines.firstIndex(of: section[...]) else { return [] }
    return lines[(title + 1)...].prefix { !$0.isEmpty }
      .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
      .compactMap { $0.split(separator: " ").first.map(String.init) }
  }

  /// `receipts list`, `stats`, …; empty when the program has no commands yet.
  func verbs() throws -> [String] {
    try Self.names(in: "Commands:", of: output(["help", "all"])).flatMap { noun in
      let verbs = Self.names(in: "Verbs:", of: try output(["help", noun]))
      return verbs.isEmpty ? [noun] : verbs.map { "\(noun) \($0)" }
    }
  }
}

@Suite struct CommandLineTests {
  /// False if one of them prints no list of commands: it has no command line yet.
  static let haveCommands = BuiltProgram.allCases.allSatisfy { program in
    program.path != nil && (try? program.verbs().isEmpty) == false
  }

  @Test(
    .enabled(if: haveCommands, "a program is not beside this test, or prints no commands yet"),
    arguments: BuiltProgram.allCases)
  func `docs/commands.md names every verb of the programs`(of program: BuiltProgram) throws {
    let page = try Repository.text(of: "docs/commands.md")
    for verb in try program.verbs() {
      #expect(
        page.contains("`\(verb)") || page.contains("\(program.rawValue) \(verb)"),
        "docs/commands.md: \(verb) is missing")
    }
  }

  @Test func `The verbs of a help text are found`() {
    let help = """
      x - y

      Commands:
        receipts  what is
                  delivered
        stats     numbers

      Options:
        -h, --help  this
      """
    #expect(BuiltProgram.names(in: "Commands:", of: help) == ["receipts", "stats"])
    #expect(BuiltProgram.names(in: "Verbs:", of: help).isEmpty)
  }
}
