// A program's manual page, generated from the table that parses and prints help. Pure; any thread.

/// The manual page of a program.
public struct ProgramManual {
  private let program: ProgramSpec
  private let section: Int

  public init(_ program: ProgramSpec, section: Int) {
    self.program = program
    self.section = section
  }

  /// The text of the page.
  /// - Parameters:
  ///   - codes: those that the program can end with.
  ///   - environment: the variables that the program reads, and their purpose.
  ///   - files: files that it reads or writes.
  ///   - seeAlso: other pages, such as `receiptd(8)`.
  public func text(
    endingWith codes: [ExitCode], environment: [(String, String)] = [], files: [(String, String)] = [],
    seeAlso: [String]
  ) -> String {
    var page = Roff(program.name, section: section, source: "Receipt Relay \(program.version)")
    page.name(program.name, program.summary)
    page.section("SYNOPSIS")
    let hasCommands = !(program.commands.first?.path.isEmpty ?? true)
    page.paragraph("\(program.name) [OPTIONS]" + (hasCommands ? " \(program.commandWords) …" : ""))
    if let discussion = program.discussion {
      page.section("DESCRIPTION")
      page.paragraph(discussion)
    }
    page.section("OPTIONS")
    for option in program.options + ProgramSpec.builtInOptions { add(option, to: &page) }
    if hasCommands { addCommands(to: &page) }
    page.section("EXIT STATUS")
    for code in codes { page.term(String(code.rawValue), code.meaning) }
    for (title, entries) in [("ENVIRONMENT", environment), ("FILES", files)] where !entries.isEmpty {
      page.section(title)
      for (name, words) in entries { page.term(name, words) }
    }
    page.section("EXAMPLES")
    for example in program.examples {
      page.paragraph("\(example.help):")
      page.lines([example.line])
    }
    page.section("SEE ALSO")
    page.paragraph(seeAlso.joined(separator: ", "))
    return page.text
  }

  private func addCommands(to page: inout Roff) {
    page.section("COMMANDS")
    for topic in CommandHelp(program).topics {
      if !program.groups.isEmpty { page.subsection("\(topic.name): \(topic.summary)") }
      for command in program.commands where command.path.first == topic.name && !command.isHidden {
        let usage = ([command.name] + command.arguments.map(\.usage)).joined(separator: " ")
        page.term(usage, "\(command.summary).")
        if let discussion = command.discussion { page.more(discussion) }
        for argument in command.arguments { page.more("\(argument.usage): \(argument.help).") }
        for option in command.options where !option.isHidden {
          page.more("\(Self.usage(option)): \(Self.help(option)).")
        }
        for example in command.examples { page.more("\(example.help): \(example.line)") }
      }
    }
  }

  private func add(_ option: OptionSpec, to page: inout Roff) {
    page.term(Self.usage(option), "\(Self.help(option)).")
  }

  private static func usage(_ option: OptionSpec) -> String {
    let short = option.short.map { "-\($0), " } ?? ""
    let value = option.placeholder.map { " \($0)" } ?? ""
    return "\(short)--\(option.name)\(value)"
  }

  private static func help(_ option: OptionSpec) -> String {
    option.choices.isEmpty ? option.help : "\(option.help) (\(option.choices.joined(separator: ", ")))"
  }
}
