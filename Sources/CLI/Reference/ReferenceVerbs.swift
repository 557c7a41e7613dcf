// `receiptctl completions` and `receiptctl manual`: input for shells and man(1), generated from the tables
// that parse and print help. One thread.

internal import Config
internal import Domain
internal import Service
internal import Store
internal import Terminal

enum ReferenceVerbs {
  static let verbs = [
    Verb(spec: Completions.command(of: OperatorProgram.name)) { session in
      session.output.text(Completions.script(of: CommandTable.spec, for: session.command))
      return .done
    },
    Verb(
      spec: CommandSpec(
        ["manual"], summary: "Print a manual page",
        arguments: [ArgumentSpec("PAGE", help: "the page", choices: ManualPage.allCases.map(\.rawValue))],
        examples: [
          ExampleSpec("receiptctl manual receiptctl | man -l -", "Read it"),
          ExampleSpec("receiptctl manual receiptd.json5 | man -l -", "Every key of the configuration"),
        ]), run: manual),
    Verb(
      spec: CommandSpec(
        ["words"], summary: "Print names for a shell's completions, one to a line",
        arguments: [ArgumentSpec("KIND", help: "what they name", choices: Words.allCases.map(\.rawValue))],
        examples: [ExampleSpec("receiptctl words apps", "The apps of the configuration")], isHidden: true),
      run: words),
  ]

  private enum Words: String, CaseIterable {
    case apps, reasons, jobs
  }

  private static func words(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let found: [String] =
      switch Words(rawValue: session.command.positionals[0]) {
      case .apps: configuration.apps.map(\.slug.text)
      case .reasons: try session.reader(configuration).failureGroups().map(\.reason)
      case .jobs: try session.reader(configuration).jobs(JobFilter(), limit: jobsMax).map(\.id.text)
      case nil: []
      }
    // bash expands what it completes.
    let isPlain = { (word: String) in
      word.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || "0123456789-_.".unicodeScalars.contains($0))
      }
    }
    for word in Set(found.filter(isPlain)).sorted() { session.output.line(word) }
    return .done
  }

  /// The newest jobs that completions name.
  private static let jobsMax = 20

  private static func manual(_ session: Session) throws -> ExitCode {
    guard let page = ManualPage(rawValue: session.command.positionals[0]) else { return .usage }
    session.output.text(page.text)
    return .done
  }
}

/// The pages of the manual.
public enum ManualPage: String, Sendable, CaseIterable {
  case receiptctl, receiptd
  case configuration = "receiptd.json5"

  /// Its file name in a folder of manual pages.
  public var fileName: String {
    switch self {
    case .receiptctl: "receiptctl.1"
    case .receiptd: "receiptd.8"
    case .configuration: "receiptd.json5.5"
    }
  }

  /// The page's text, for man(1).
  public var text: String {
    let configuration = (
      ConfigurationLoader.defaultPath, "The default path of the configuration; see receiptd.json5(5)."
    )
    let variable = (ConfigurationLoader.pathVariable, "The configuration's path, unless --config names one.")
    switch self {
    case .receiptctl:
      return ProgramManual(CommandTable.spec, section: 1).text(
        // Only receiptd ends itself for a disk that does not keep what it wrote.
        endingWith: ExitCode.allCases.filter { $0 != .diskFault },
        environment: [
          variable, ("NO_COLOR", "When it is set and not empty, nothing is coloured."),
          ("SUDO_USER", "Recorded in the audit beside the user that receiptctl runs as."),
        ], files: [configuration], seeAlso: ["receiptd(8)", "receiptd.json5(5)"])
    case .receiptd:
      return ProgramManual(ReceiptdCommand.spec, section: 8).text(
        endingWith: [.done, .usage, .unavailable, .diskFault, .tryAgain, .refused, .configuration],
        environment: [
          variable,
          (
            "NOTIFY_SOCKET, WATCHDOG_USEC",
            "Set by the service manager (sd_notify(3)), which gets receiptd's state."
          ),
        ], files: [configuration], seeAlso: ["receiptctl(1)", "receiptd.json5(5)"])
    case .configuration: return ConfigurationManual.text
    }
  }
}
