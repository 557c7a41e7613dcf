// The data of shell completions, built from the command table. Pure; any thread.

/// A program's words, arranged for shell completion.
struct CompletionTable {
  struct Option {
    var names: [String]
    var help: String
    /// nil for a flag.
    var value: Value?
  }

  /// The possible values of an option or an argument.
  enum Value: Equatable {
    case choices([String])
    case file
    /// What the program prints with these arguments.
    case words(String)
    case anything
  }

  /// A command with its full path.
  struct Command {
    var words: [String]
    var help: String
    var options: [Option]
    var arguments: Value
  }

  let program: String
  /// The first words, with their help.
  let topics: [(word: String, help: String)]
  let commands: [Command]
  /// Options that are allowed in any place.
  let shared: [Option]

  init(_ spec: ProgramSpec) {
    program = spec.name
    topics = CommandHelp(spec).topics.map { ($0.name, $0.summary) } + [("help", "Show help about a command")]
    shared = (spec.options + ProgramSpec.builtInOptions).map { Self.option($0, spec.words) }
    commands = spec.commands.filter { !$0.isHidden }.map { command in
      let argument = command.arguments.last
      return Command(
        words: command.path, help: command.summary,
        options: command.options.filter { !$0.isHidden }.map { Self.option($0, spec.words) },
        arguments: argument.map { Self.value($0.name, choices: $0.choices, spec.words) } ?? .anything)
    }
  }

  /// The verbs of a command group, with their help.
  func verbs(of group: String) -> [(word: String, help: String)] {
    commands.filter { $0.words.count > 1 && $0.words[0] == group }.map { ($0.words[1], $0.help) }
  }

  private static func option(_ spec: OptionSpec, _ words: [String: String]) -> Option {
    Option(
      names: ["--\(spec.name)"] + (spec.short.map { ["-\($0)"] } ?? []), help: spec.help,
      value: spec.placeholder.map { value($0, choices: spec.choices, words) })
  }

  private static func value(_ placeholder: String, choices: [String], _ words: [String: String]) -> Value {
    if !choices.isEmpty { return .choices(choices) }
    if let words = words[placeholder] { return .words(words) }
    return placeholder == "PATH" || placeholder == "FILE" ? .file : .anything
  }
}
