// The README names every command of receiptctl. The list comes from the program of the same build.

import Foundation
import TestSupport
import Testing

/// receiptctl from the same build.
enum BuiltProgram {
  /// Its path; the test program is in the same folder.
  static let path: String? = {
    // Without a program there is no path; the test then reports why it is skipped.
    guard let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
      return nil
    }
    let path = URL(filePath: own).deletingLastPathComponent().appending(component: "receiptctl").path
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
  }()

  /// The program's output.
  static func output(_ arguments: [String]) throws -> String {
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
  static func verbs() throws -> [String] {
    try names(in: "Commands:", of: output(["--help"])).flatMap { noun in
      let verbs = names(in: "Verbs:", of: try output(["help", noun]))
      return verbs.isEmpty ? [noun] : verbs.map { "\(noun) \($0)" }
    }
  }
}

@Suite struct CommandLineTests {
  /// False for a program that prints no list of commands: it has no command line yet.
  static let hasCommands = BuiltProgram.path != nil && (try? BuiltProgram.verbs().isEmpty) == false

  @Test(
    "The README names every verb of receiptctl",
    .enabled(if: hasCommands, "receiptctl is not beside this test, or prints no commands yet"))
  func readmeNamesEveryVerb() throws {
    let readme = try Repository.text(of: "README.md")
    for verb in try BuiltProgram.verbs() {
      #expect(
        readme.contains("`\(verb)") || readme.contains("receiptctl \(verb)"), "README.md: \(verb) is missing")
    }
  }

  @Test("The verbs of a help text are found")
  func readsSections() {
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
