// Help texts, generated from the command table. Lines fit 80 columns on every terminal. Pure; any thread.

/// The help of a program at every level.
public struct CommandHelp: Sendable {
  private static let columns = 80
  private let program: ProgramSpec

  public init(_ program: ProgramSpec) { self.program = program }

  /// The entries of the program's help: the command groups, then the one-word commands.
  public var topics: [CommandGroup] {
    program.groups
      + program.commands.filter { $0.path.count == 1 && !$0.isHidden }.map {
        CommandGroup($0.name, summary: $0.summary)
      }
  }

  /// Help about the program.
  public var text: String {
    if let only = program.commands.first, only.path.isEmpty { return text(of: only) }
    return program.sections.isEmpty ? wholeText : sections
  }

  /// Help about the program with every topic, all options and the examples.
  var wholeText: String {
    var lines = [
      "\(program.name) - \(program.summary)", "",
      "Usage: \(program.name) [OPTIONS] \(program.commandWords) …",
    ]
    lines += paragraph(program.discussion)
    lines += section("Commands", topics.map { ($0.name, $0.summary) })
    lines += optionSection("Options", program.options + ProgramSpec.builtInOptions)
    lines += exampleSection(program.examples)
    let words = program.groups.isEmpty ? "COMMAND" : "GROUP [VERB]"
    lines += ["", "Help on a command: \(program.name) help \(words)"]
    return lines.joined(separator: "\n") + "\n"
  }

  /// What the program can do, on one screen.
  private var sections: String {
    let summaries = Dictionary(topics.map { ($0.name, $0.summary) }) { first, _ in first }
    let width = program.sections.flatMap(\.topics).map { DisplayText.width(of: $0) }.max() ?? 0
    var lines = ["\(program.name) - \(program.summary)"]
    for section in program.sections {
      lines.append("\(section.title):")
      lines += section.topics.map { "  \(DisplayText.padded($0, to: width))  \(summaries[$0] ?? "")" }
      if !section.others.isEmpty {
        lines.append("  \(DisplayText.padded("also", to: width))  \(section.others.joined(separator: ", "))")
      }
    }
    lines += [
      "Every command takes \(program.options.map { "--\($0.name)" }.joined(separator: ", ")) and --help.",
      "More: \(program.name) help TOPIC; every topic: \(program.name) help all",
    ]
    return lines.joined(separator: "\n") + "\n"
  }

  /// Help about a command group and its verbs; nil when the group does not exist.
  public func text(ofGroup name: String) -> String? {
    guard let group = program.groups.first(where: { $0.name == name }) else { return nil }
    let commands = program.commands(under: [name]).filter { !$0.isHidden }
    var lines = ["\(program.name) \(name) - \(group.summary)", "", "Usage: \(program.name) \(name) VERB …"]
    lines += section("Verbs", commands.map { ($0.path.dropFirst().joined(separator: " "), $0.summary) })
    lines += optionSection("Options of every command", program.options + ProgramSpec.builtInOptions)
    lines += exampleSection(commands.compactMap(\.examples.first))
    lines += ["", "Help on a verb: \(program.name) \(name) VERB --help"]
    return lines.joined(separator: "\n") + "\n"
  }

  /// Help about one command.
  public func text(of command: CommandSpec) -> String {
    let name = ([program.name] + command.path).joined(separator: " ")
    let isOnly = command.path.isEmpty
    let usage = [name, "[OPTIONS]"] + command.arguments.map(\.usage)
    var lines = ["\(name) - \(command.summary)", "", "Usage: \(usage.joined(separator: " "))"]
    lines += paragraph(command.discussion)
    lines += section("Arguments", command.arguments.map { ($0.usage, Self.help($0)) })
    let shared = program.options + ProgramSpec.builtInOptions
    if isOnly {
      lines += optionSection("Options", command.options + shared)
    } else {
      lines += optionSection("Options", command.options)
      lines += optionSection("Options of every command", shared)
    }
    lines += exampleSection(command.examples)
    return lines.joined(separator: "\n") + "\n"
  }

  private func paragraph(_ text: String?) -> [String] {
    guard let text else { return [] }
    return [""]
      + text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { Self.wrap($0, Self.columns) }
  }

  private func optionSection(_ title: String, _ options: [OptionSpec]) -> [String] {
    section(
      title,
      options.filter { !$0.isHidden }.map { option in
        var left = option.short.map { "-\($0), " } ?? "    "
        left += "--\(option.name)"
        if let placeholder = option.placeholder { left += " \(placeholder)" }
        var help = option.help
        if !option.choices.isEmpty { help += " (\(option.choices.joined(separator: ", ")))" }
        if option.isRepeatable && !option.isFlag { help += "; may be given several times" }
        return (left, help)
      })
  }

  private static func help(_ argument: ArgumentSpec) -> String {
    argument.choices.isEmpty
      ? argument.help : "\(argument.help) (\(argument.choices.joined(separator: ", ")))"
  }

  private func exampleSection(_ examples: [ExampleSpec]) -> [String] {
    guard !examples.isEmpty else { return [] }
    return ["", "Examples:"] + examples.flatMap { ["  # \($0.help)", "  \($0.line)"] }
  }

  /// Two columns under a title. If the left text is too wide, the right text starts on the next line.
  private func section(_ title: String, _ rows: [(String, String)]) -> [String] {
    guard !rows.isEmpty else { return [] }
    let leftMax = 28
    let left = rows.map { DisplayText.width(of: $0.0) }.filter { $0 <= leftMax }.max() ?? leftMax
    let indent = String(repeating: " ", count: left + 4)
    var lines = ["", "\(title):"]
    for (name, help) in rows {
      let texts = Self.wrap(Substring(help), Self.columns - left - 4)
      if DisplayText.width(of: name) > left {
        lines.append("  \(name)")
        lines += texts.map { indent + $0 }
      } else {
        lines.append("  \(DisplayText.padded(name, to: left))  \(texts.first ?? "")")
        lines += texts.dropFirst().map { indent + $0 }
      }
    }
    return lines
  }

  /// Breaks a text between words; a word that is too long for a line gets its own line.
  private static func wrap(_ text: Substring, _ columns: Int) -> [String] {
    var lines = [""]
    for word in text.split(separator: " ") {
      let line = lines[lines.count - 1]
      if line.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if DisplayText.width(of: line) + 1 + DisplayText.width(of: String(word)) <= columns {
        lines[lines.count - 1] = "\(line) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
