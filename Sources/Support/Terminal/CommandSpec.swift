// A program's commands as one table, for the parser, help, completions and manual pages. It is the only place
// of their texts. Pure; any thread.

/// One option: a flag, or a name with a value.
public struct OptionSpec: Sendable, Equatable {
  /// Without the hyphens.
  public let name: String
  public let short: Character?
  /// The placeholder of the value in help, such as `PATH`; nil for a flag.
  public let placeholder: String?
  public let help: String
  /// Whether it may be given more than once.
  public let isRepeatable: Bool
  /// The allowed values; empty allows any.
  public let choices: [String]
  /// Older names that scripts may use, unless another option of the command has one of them.
  public let aliases: [String]
  /// Whether help, completions and manual pages leave it out: it is accepted for scripts.
  public let isHidden: Bool

  /// An option with a value.
  public init(
    _ name: String, short: Character? = nil, placeholder: String, help: String, isRepeatable: Bool = false,
    choices: [String] = [], aliases: [String] = [], isHidden: Bool = false
  ) {
    self.name = name
    self.aliases = aliases
    self.isHidden = isHidden
    self.short = short
    self.placeholder = placeholder
    self.help = help
    self.isRepeatable = isRepeatable
    self.choices = choices
  }

  /// An option without a value.
  public init(flag name: String, short: Character? = nil, help: String) {
    self.name = name
    (aliases, isHidden) = ([], false)
    self.short = short
    placeholder = nil
    self.help = help
    isRepeatable = true
    choices = []
  }

  /// Whether it has no value.
  public var isFlag: Bool { placeholder == nil }
}

/// One positional argument.
public struct ArgumentSpec: Sendable, Equatable {
  /// Upper case, such as `ID`.
  public let name: String
  public let help: String
  public let isRequired: Bool
  /// Whether it accepts all remaining arguments; only the last one of a command may.
  public let isRepeatable: Bool
  /// The allowed values; empty allows any.
  public let choices: [String]

  public init(
    _ name: String, help: String, isRequired: Bool = true, isRepeatable: Bool = false, choices: [String] = []
  ) {
    self.name = name
    self.help = help
    self.isRequired = isRequired
    self.isRepeatable = isRepeatable
    self.choices = choices
  }

  /// As usage lines show it: `ID`, `ID…`, `[ID]`, `[ID…]`.
  public var usage: String {
    let name = isRepeatable ? "\(name)…" : name
    return isRequired ? name : "[\(name)]"
  }
}

/// A valid command line, and what it does.
public struct ExampleSpec: Sendable, Equatable {
  /// The whole line, including the program.
  public let line: String
  public let help: String

  public init(_ line: String, _ help: String) {
    self.line = line
    self.help = help
  }
}

/// One command with its arguments, options and help texts.
public struct CommandSpec: Sendable, Equatable {
  /// Group and verb, such as `["receipts", "list"]`; one word for a command without verbs; empty for a
  /// program that is a single command.
  public let path: [String]
  /// One line, without a full stop.
  public let summary: String
  public let discussion: String?
  public let arguments: [ArgumentSpec]
  public let options: [OptionSpec]
  /// At least one.
  public let examples: [ExampleSpec]
  /// Whether lists of commands leave it out: an older name that scripts may use.
  public let isHidden: Bool

  public init(
    _ path: [String], summary: String, discussion: String? = nil, arguments: [ArgumentSpec] = [],
    options: [OptionSpec] = [], examples: [ExampleSpec], isHidden: Bool = false
  ) {
    self.isHidden = isHidden
    self.path = path
    self.summary = summary
    self.discussion = discussion
    self.arguments = arguments
    self.options = options
    self.examples = examples
  }

  /// The words of the path, separated by spaces.
  public var name: String { path.joined(separator: " ") }
}

/// A word that groups commands.
public struct CommandGroup: Sendable, Equatable {
  public let name: String
  /// One line, without a full stop.
  public let summary: String

  public init(_ name: String, summary: String) {
    self.name = name
    self.summary = summary
  }
}

/// A part of a program's help: what an operator wants to do.
public struct HelpSection: Sendable, Equatable {
  public let title: String
  /// Command groups and one-word commands that are shown with their summaries.
  public let topics: [String]
  /// Those that are only named.
  public let others: [String]

  public init(_ title: String, _ topics: [String], also others: [String]) {
    (self.title, self.topics, self.others) = (title, topics, others)
  }
}

/// A program: its commands and shared options. `--help`, `-h`, `--version` and `help` always exist.
public struct ProgramSpec: Sendable, Equatable {
  public let name: String
  public let version: String
  /// What `--version` prints after the version, in brackets: the commit and its date; nil if unknown.
  public let origin: String?
  /// One line, without a full stop.
  public let summary: String
  public let discussion: String?
  /// Options that every command accepts, in any place.
  public let options: [OptionSpec]
  /// In the order of help. A one-word command needs none.
  public let groups: [CommandGroup]
  public let commands: [CommandSpec]
  /// The program's help in short; without sections it shows every topic, all options and the examples.
  public let sections: [HelpSection]
  /// By placeholder, arguments with which the program prints the values that it knows, one a line, for
  /// completions. Each value is a word without characters that a shell expands.
  public let words: [String: String]
  public let examples: [ExampleSpec]

  public init(
    name: String, version: String, origin: String? = nil, summary: String, discussion: String? = nil,
    options: [OptionSpec] = [],
    groups: [CommandGroup] = [], commands: [CommandSpec], sections: [HelpSection] = [],
    words: [String: String] = [:], examples: [ExampleSpec]
  ) {
    self.words = words
    self.sections = sections
    self.name = name
    self.version = version
    self.origin = origin
    self.summary = summary
    self.discussion = discussion
    self.options = options
    self.groups = groups
    self.commands = commands
    self.examples = examples
  }

  /// The answer to `--version`.
  var versionLine: String { "\(name) \(version)" + (origin.map { " (\($0))" } ?? "") }

  /// The words that choose a command, in usage lines.
  var commandWords: String { groups.isEmpty ? "COMMAND" : "GROUP VERB" }

  /// The options that the parser adds to every program.
  public static let builtInOptions = [
    OptionSpec(flag: "help", short: "h", help: "Show this help"),
    OptionSpec(flag: "version", help: "Show the version"),
  ]

  /// The commands whose path begins with these words.
  public func commands(under words: [String]) -> [CommandSpec] {
    commands.filter { $0.path.starts(with: words) }
  }

  /// The faults of the table: a command without an example, two commands with one name, an option that hides
  /// another. Each program has a test that expects none.
  public var flaws: [String] {
    var flaws: [String] = []
    var paths: Set<[String]> = []
    for command in commands {
      if !paths.insert(command.path).inserted { flaws.append("\(command.name) is declared twice") }
      if command.examples.isEmpty { flaws.append("\(command.name) has no example") }
      if command.path.count > 1, !groups.contains(where: { $0.name == command.path.first }) {
        flaws.append("\(command.name) has no group")
      }
      if command.arguments.dropLast().contains(where: { $0.isRepeatable || !$0.isRequired }) {
        flaws.append("\(command.name) has an argument after one that takes all or none")
      }
      let all = command.options + options + Self.builtInOptions
      if Set(all.map(\.name)).count < all.count
        || Set(all.compactMap(\.short)).count < all.compactMap(\.short).count
      {
        flaws.append("\(command.name) has an option twice")
      }
    }
    for (name, text) in [(name, discussion)] + commands.map({ ($0.name, $0.discussion) }) {
      // As of a line of the source that is indented further than the first.
      guard let text, text.split(separator: "\n").contains(where: { $0.contains("  ") }) else { continue }
      flaws.append("the text of \(name) has two blanks in a row")
    }
    if !sections.isEmpty {
      let listed = sections.flatMap { $0.topics + $0.others }.sorted()
      if listed != CommandHelp(self).topics.map(\.name).sorted() {
        flaws.append("the sections of help do not have each topic once")
      }
    }
    return examples.isEmpty ? flaws + ["\(name) has no example"] : flaws
  }
}
