// The one parser of command lines, for every program's table. Options may be in any place; `--` ends them.
// Whether an option has a value depends on the command, so the line is read once per command and the best
// reading is used. Pure; any thread.

internal import Platform

/// Parses command lines by a table.
public struct CommandParser: Sendable {
  private let program: ProgramSpec

  public init(_ program: ProgramSpec) { self.program = program }

  /// Parses the arguments of a program, without its name.
  public func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
    guard let command = command(for: arguments) else { return try withoutCommand(arguments) }
    let reading = Reading(arguments, options: options(of: command))
    let help = CommandHelp(program)
    if reading.asks(for: "help") { return .show(help.text(of: command)) }
    if reading.asks(for: "version") { return .show(program.versionLine + "\n") }
    return .run(try checked(reading, command))
  }

  private func options(of command: CommandSpec) -> [OptionSpec] {
    command.options + program.options + ProgramSpec.builtInOptions
  }

  /// The command whose path the words begin with, each with its own reading. If several match, the one that
  /// knows every option wins, then the longest.
  private func command(for arguments: [String]) -> CommandSpec? {
    var best: CommandSpec?
    var bestRank = (0, 0)
    for command in program.commands {
      let reading = Reading(arguments, options: options(of: command))
      guard reading.words.starts(with: command.path) else { continue }
      let rank = (reading.unknown.isEmpty ? 1 : 0, command.path.count)
      if best == nil || rank > bestRank { (best, bestRank) = (command, rank) }
    }
    return best
  }

  private func checked(_ reading: Reading, _ command: CommandSpec) throws(UsageError) -> ParsedCommand {
    let helpCommand = helpCommand(command.path)
    func refuse(_ message: String) -> UsageError { UsageError(message, helpCommand: helpCommand) }
    if let unknown = reading.unknown.first {
      throw refuse(unknownOption(unknown, known: options(of: command)))
    }
    if let problem = reading.problems.first { throw refuse(problem) }
    var values = OptionValues()
    for given in reading.given {
      guard let value = given.value else {
        values.add("", to: given.option.name)
        continue
      }
      let choices = given.option.choices
      guard choices.isEmpty || choices.contains(value) else {
        let near = EditDistance.nearest(to: value, among: choices).map { "; did you mean '\($0)'?" } ?? ""
        throw refuse(
          "--\(given.option.name) must be one of \(choices.joined(separator: ", ")), not "
            + "'\(DisplayText.clean(value))'\(near)")
      }
      guard given.option.isRepeatable || !values.contains(given.option.name) else {
        throw refuse("--\(given.option.name) is given twice")
      }
      values.add(value, to: given.option.name)
    }
    let positionals = Array(reading.words.dropFirst(command.path.count)) + reading.afterTerminator
    let required = command.arguments.filter(\.isRequired).count
    if positionals.count < required {
      let missing = command.arguments[positionals.count]
      throw refuse("\(named(command)) needs \(missing.name): \(missing.help)")
    }
    if positionals.count > command.arguments.count, command.arguments.last?.isRepeatable != true {
      let extra = DisplayText.clean(positionals[command.arguments.count])
      throw refuse("'\(extra)' is one argument too many for \(named(command))")
    }
    for (argument, value) in zip(command.arguments, positionals)
    where !argument.choices.isEmpty && !argument.choices.contains(value) {
      let near = EditDistance.nearest(to: value, among: argument.choices).map { "; did you mean '\($0)'?" }
      throw refuse(
        "\(argument.name) must be one of \(argument.choices.joined(separator: ", ")), not "
          + "'\(DisplayText.clean(value))'\(near ?? "")")
    }
    return ParsedCommand(spec: command, options: values, positionals: positionals, helpCommand: helpCommand)
  }

  private func named(_ command: CommandSpec) -> String { command.path.isEmpty ? program.name : command.name }

  private func helpCommand(_ words: [String]) -> String {
    ([program.name] + words + ["--help"]).joined(separator: " ")
  }

  private func unknownOption(_ name: String, known: [OptionSpec]) -> String {
    let known = known.filter { !$0.isHidden }
    let names = known.map { "--\($0.name)" } + known.compactMap { $0.short.map { "-\($0)" } }
    let near = EditDistance.nearest(to: name, among: names).map { "; did you mean \($0)?" } ?? ""
    return "there is no option \(DisplayText.clean(name)) here\(near)"
  }
}

extension CommandParser {
  /// A line without a command: a request for help, a group without its verb, or a mistake.
  private func withoutCommand(_ arguments: [String]) throws(UsageError) -> Invocation {
    let everyOption = program.options + ProgramSpec.builtInOptions + program.commands.flatMap(\.options)
    let reading = Reading(arguments, options: everyOption)
    let help = CommandHelp(program)
    var words = reading.words
    let asksForHelp = words.first == "help" || reading.asks(for: "help")
    if words.first == "help" { words.removeFirst() }
    if asksForHelp {
      if let command = program.commands.first(where: { $0.path == words }) {
        return .show(help.text(of: command))
      }
      if words.isEmpty { return .show(help.text) }
      if words == ["all"] { return .show(help.wholeText) }
      if let text = help.text(ofGroup: words[0]), words.count == 1 { return .show(text) }
      throw unknownCommand(words)
    }
    if reading.asks(for: "version") { return .show(program.versionLine + "\n") }
    if words.isEmpty {
      guard let unknown = reading.unknown.first else { return .show(help.text) }
      throw UsageError(unknownOption(unknown, known: everyOption), helpCommand: helpCommand([]))
    }
    throw unknownCommand(words)
  }

  private func unknownCommand(_ words: [String]) -> UsageError {
    let firstWords = program.commands.compactMap(\.path.first)
    let group = words[0]
    guard firstWords.contains(group) else {
      let near = EditDistance.nearest(to: group, among: Set(firstWords + ["help"]))
      let advice = near.map { "; did you mean '\($0)'?" } ?? ""
      return UsageError(
        "there is no command '\(DisplayText.clean(group))'\(advice)", helpCommand: helpCommand([]))
    }
    let verbs = program.commands(under: [group]).filter { !$0.isHidden }
      .compactMap { $0.path.dropFirst().first }
    guard words.count > 1 else {
      return UsageError(
        "say what to do with \(group): \(verbs.joined(separator: ", "))", helpCommand: helpCommand([group]))
    }
    let near = EditDistance.nearest(to: words[1], among: verbs)
    let advice =
      near.map { "; did you mean '\(group) \($0)'?" } ?? "; there is \(verbs.joined(separator: ", "))"
    return UsageError(
      "there is no command '\(group) \(DisplayText.clean(words[1]))'\(advice)",
      helpCommand: helpCommand([group]))
  }
}

// MARK: - Reading

// One reading of a command line with one set of options: words, options, and problems. Pure; any thread.

extension CommandParser {
  struct Reading {
    /// Arguments that are not options, in order, up to `--`.
    private(set) var words: [String] = []
    /// The arguments after `--`.
    private(set) var afterTerminator: [String] = []
    private(set) var given: [(option: OptionSpec, value: String?)] = []
    /// Unknown options, with their hyphens.
    private(set) var unknown: [String] = []
    /// Known options with an unexpected or a missing value.
    private(set) var problems: [String] = []

    private var rest: ArraySlice<String>

    init(_ arguments: [String], options: [OptionSpec]) {
      rest = arguments[...]
      while let argument = rest.popFirst() {
        if argument == "--" {
          afterTerminator = Array(rest)
          return
        }
        if argument.hasPrefix("--") {
          readLong(argument.dropFirst(2), options)
        } else if Self.looksLikeOption(argument) {
          readShort(argument.dropFirst(), options)
        } else {
          words.append(argument)
        }
      }
    }

    /// Whether a flag was given.
    func asks(for flag: String) -> Bool { given.contains { $0.option.name == flag && $0.option.isFlag } }

    /// A single hyphen means stdin or stdout, and a negative number is a value.
    private static func looksLikeOption(_ argument: String) -> Bool {
      guard argument.hasPrefix("-"), let second = argument.dropFirst().first else { return false }
      return !second.isNumber
    }

    private mutating func readLong(_ text: Substring, _ options: [OptionSpec]) {
      // Bytes, not characters: a value may begin with a combining character, which would merge with the sign
      // before it.
      let parts = text.utf8.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(Substring(parts[0]))
      let attached = parts.count > 1 ? String(Substring(parts[1])) : nil
      let exact = options.first { $0.name == name }
      guard let option = exact ?? options.first(where: { $0.aliases.contains(name) }) else {
        unknown.append("--\(name)")
        return
      }
      if option.isFlag {
        if attached != nil { problems.append("--\(name) takes no value") }
        given.append((option, nil))
      } else if let value = attached ?? valueBehind() {
        given.append((option, value))
      } else {
        problems.append("--\(name) needs a value: --\(name) \(option.placeholder ?? "VALUE")")
      }
    }

    /// `-y`, `-n 5`, `-n5`, and combined flags, `-yq`.
    private mutating func readShort(_ text: Substring, _ options: [OptionSpec]) {
      var text = text
      while let letter = text.popFirst() {
        guard let option = options.first(where: { $0.short == letter }) else {
          unknown.append("-\(letter)")
          return
        }
        if option.isFlag {
          given.append((option, nil))
          continue
        }
        if let value = text.isEmpty ? valueBehind() : String(text) {
          given.append((option, value))
        } else {
          problems.append("-\(letter) needs a value: -\(letter) \(option.placeholder ?? "VALUE")")
        }
        return
      }
    }

    /// The next argument, unless it is an option: `--why --help` asks for help. A value that begins with a
    /// hyphen is written `--why=-…`.
    private mutating func valueBehind() -> String? {
      guard let next = rest.first, next != "--", !Self.looksLikeOption(next) else { return nil }
      return rest.popFirst()
    }
  }
}
