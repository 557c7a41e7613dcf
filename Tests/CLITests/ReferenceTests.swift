// Completions and manual pages: whether those in deploy/ match the program's output, and whether shells
// accept them.

import Domain
import Formats
import FoundationEssentials
import Store
import Terminal
import TestSupport
import Testing

@testable import CLI
@testable import Config

@Suite("Completions and manual pages")
struct ReferenceTests {
  private static let deploy = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "deploy").path

  /// Compares a text with a shipped file.
  private func check(_ text: String, _ path: String) {
    #expect(RecordedFile.fault(text, "../../deploy/\(path)") == nil)
  }

  @Test func `The recorded files equal the generated ones`() throws {
    let harness = try OperatorHarness()
    for shell in Completions.Shell.allCases {
      let name = shell == .zsh ? "_receiptctl" : "receiptctl.\(shell.rawValue)"
      check(harness.run("completions", shell.rawValue).out, "completions/\(name)")
    }
    for page in ManualPage.allCases {
      check(harness.run("manual", page.rawValue).out, "man/\(page.fileName)")
    }
    #expect(harness.run("completions", "tcsh").notes.contains("SHELL must be one of bash, zsh, fish"))
  }

  @Test func `Every command, option and key is in its page`() {
    let page = ManualPage.receiptctl.text.replacing("\\-", with: "-")
    for command in OperatorProgram.spec.commands where !command.isHidden {
      #expect(page.contains("\\fB\(command.name)"), "\(command.name)")
      for option in command.options where !option.isHidden {
        #expect(page.contains("--\(option.name)"), "\(option.name)")
      }
    }
    let configuration = ManualPage.configuration.text.replacing("\\-", with: "-")
    let keys = ConfigurationReference.entries
    #expect(keys.count > 50)
    for entry in keys {
      #expect(configuration.contains(entry.path), "\(entry.path)")
      #expect(ConfigurationDocument.text.contains("`\(entry.path)`"), "\(entry.path)")
    }
  }

  @Test func `docs/configuration.md is what the declarations of the keys say now`() {
    check(ConfigurationDocument.text, "../docs/configuration.md")
  }

  @Test func `config schema prints the schema, and one line of it with --json`() throws {
    let harness = try OperatorHarness()
    let shown = harness.run("config", "schema")
    #expect(shown.code == .done)
    #expect(shown.out == ConfigurationSchema.value.prettyText + "\n")
    #expect(harness.run("config", "schema", "--json").out == ConfigurationSchema.value.text + "\n")
  }

  /// The completions that bash offers for a line.
  private func bash(_ words: [String]) throws -> [String] {
    let list = words.map { "'\($0)'" }.joined(separator: " ")
    let script = """
      source '\(Self.deploy)/completions/receiptctl.bash'
      receiptctl() { [ "$*" = 'words apps' ] && printf '%s\n' ios web; }
      COMP_WORDS=(receiptctl \(list)); COMP_CWORD=\(words.count)
      _receiptctl; printf '%s\\n' "${COMPREPLY[@]}"
      """
    let ran = try ShellRun(["bash", "--norc", "-c", script])
    #expect(ran.code == 0)
    return ran.output.split(separator: "\n").map(String.init)
  }

  @Test func `bash completes groups, verbs, options and their values`() throws {
    #expect(try bash(["rec"]) == ["receipts"])
    #expect(try bash(["receipts", "sh"]) == ["show"])
    #expect(try bash(["--config", "x", "receipts", "sh"]) == ["show"])
    #expect(try bash(["receipts", "list", "--pri"]) == ["--price"])
    #expect(try bash(["receipts", "list", "--state", "f"]) == ["failed"])
    #expect(try bash(["receipts", "list", "--state", "=", "de"]) == ["delivered"])
    #expect(try bash(["receipts", "list", "--import"]) == [], "a hidden option")
    #expect(try bash(["status", "--w"]) == ["--watch"])
    #expect(try bash(["receipts", "list", "--app", "i"]) == ["ios"])
    #expect(try bash(["apps", "pause", ""]) == ["ios", "web"])
    #expect(try bash(["completions", "z"]) == ["zsh"])
    #expect(try bash(["db", "restore", "/etc/host"]).contains("/etc/hosts"))
  }

  @Test func `Completions get apps, reasons and jobs from the configuration and the database`() throws {
    let harness = try OperatorHarness(apps: ["ios", "web"])
    #expect(harness.run("words", "apps").out == "ios\nweb\n")
    #expect(harness.run("words", "reasons").out == "")
    try harness.fail(try harness.purchase("sub_1"))
    #expect(harness.run("words", "reasons").out == "http_422\n")
    #expect(harness.run("receipts", "replay", "--state", "failed", "--yes").code == .done)
    let job = try #require(try harness.reader().jobs(JobFilter(), limit: 1).first)
    #expect(harness.run("words", "jobs").out == "\(job.id)\n")
  }

  @Test(.enabled(if: ShellRun.isThere("fish"), "fish is not installed"))
  func `fish completes the same`() throws {
    for (line, expected) in [
      ("rec", "receipts"), ("receipts sh", "show"), ("receipts list --pri", "--price"),
      ("receipts list --state f", "failed"), ("completions z", "zsh"),
    ] {
      let script = "source '\(Self.deploy)/completions/receiptctl.fish'; complete -C 'receiptctl \(line)'"
      let ran = try ShellRun(["fish", "--no-config", "-c", script])
      #expect(ran.code == 0)
      #expect(ran.output.split(separator: "\n").contains { $0.split(separator: "\t").first == expected[...] })
    }
  }

  @Test(.enabled(if: ShellRun.isThere("zsh"), "zsh is not installed"))
  func `zsh loads its file, and completes by it`() throws {
    // zsh completes only at a prompt, so the test uses zsh's own pseudo-terminal (zshmodules(1), zpty).
    let script = """
      zmodload zsh/zpty; zpty z zsh -f -i
      setup=(PS1= 'stty -echo' 'fpath=(\(Self.deploy)/completions $fpath)' 'autoload -U compinit')
      setup+=('compinit -u -D')
      zpty -w z "${(j:; :)setup}; bindkey '^I' complete-word; echo rea''dy"
      zpty -r z shown '*ready*'
      zpty -w -n z $'receiptctl receipts sh\\t'
      zpty -r z shown '*receipts show*' && print found
      """
    let ran = try ShellRun(["timeout", "20", "zsh", "-f", "-c", script])
    #expect(ran.output.contains("found"), "\(ran.output)")
  }

  @Test(
    "On a terminal of 80 columns no line of a page is wider, because a long word may break",
    .enabled(if: ShellRun.isThere("groff"), "groff is not installed"), arguments: ManualPage.allCases)
  func fits(page: ManualPage) throws {
    // Plain text, without the overstriking of bold letters.
    let ran = try ShellRun([
      "groff", "-man", "-Tutf8", "-Kutf8", "-Wbreak", "-P-c", "-P-b", "-P-u", "-rLL=78n",
      "\(Self.deploy)/man/\(page.fileName)",
    ])
    #expect(ran.code == 0)
    let wide = ran.output.split(separator: "\n").filter { $0.count > 80 }
    #expect(wide.isEmpty)
  }

  @Test(
    .enabled(if: ShellRun.isThere("mandoc"), "mandoc is not installed"),
    arguments: ManualPage.allCases)
  func `man reports no fault in the pages`(page: ManualPage) throws {
    let ran = try ShellRun(["mandoc", "-T", "lint", "-W", "warning", "\(Self.deploy)/man/\(page.fileName)"])
    // Manual pages have no date, so that they are reproducible.
    let faults = ran.output.split(separator: "\n").filter { !$0.contains("missing date") }
    #expect(faults.isEmpty)
  }
}
