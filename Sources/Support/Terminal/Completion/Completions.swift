// Completion scripts for common shells, generated from the table. Pure; any thread.

/// Scripts that add a program's completions to a shell.
public enum Completions {
  /// The supported shells.
  public enum Shell: String, Sendable, CaseIterable {
    case bash, zsh, fish
  }

  /// `completions SHELL`, which every program with several commands has.
  public static func command(of program: String) -> CommandSpec {
    CommandSpec(
      ["completions"], summary: "Print a shell's completions for \(program)",
      arguments: [ArgumentSpec("SHELL", help: "the shell", choices: Shell.allCases.map(\.rawValue))],
      examples: [
        ExampleSpec(
          "\(program) completions bash | sudo tee /etc/bash_completion.d/\(program)", "For every bash"),
        ExampleSpec("\(program) completions fish | source", "In this fish"),
      ])
  }

  /// The script that this command asks for.
  public static func script(of program: ProgramSpec, for command: ParsedCommand) -> String {
    // The parser accepts no other value.
    Shell(rawValue: command.positionals[0]).map { script(of: program, for: $0) } ?? ""
  }

  /// The script for one shell.
  public static func script(of program: ProgramSpec, for shell: Shell) -> String {
    let table = CompletionTable(program)
    return switch shell {
    case .bash: bash(table)
    case .zsh: zsh(table)
    case .fish: fish(table)
    }
  }

  /// Prints the words for a value; nothing if the program cannot.
  private static func printing(_ table: CompletionTable, _ arguments: String) -> String {
    "\(table.program) \(arguments) 2>/dev/null"
  }

  /// A text in single quotes, as POSIX shells and fish read it.
  static func quoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "'\\''") + "'"
  }
}

// MARK: - Fish

// Completions for fish, complete(1). Pure.

extension Completions {
  static func fish(_ table: CompletionTable) -> String {
    var lines = [
      "# fish completion for \(table.program); made by: \(table.program) completions fish", "",
      "complete -c \(table.program) -f",
    ]
    let topics = table.topics.map(\.word).joined(separator: " ")
    let none = "not __fish_seen_subcommand_from \(topics)"
    for topic in table.topics { lines.append(word(table, none, topic.word, topic.help)) }
    for topic in table.topics {
      let verbs = table.verbs(of: topic.word)
      let names = verbs.map(\.word).joined(separator: " ")
      for verb in verbs {
        let condition =
          "__fish_seen_subcommand_from \(topic.word); and not __fish_seen_subcommand_from \(names)"
        lines.append(word(table, condition, verb.word, verb.help))
      }
    }
    for option in table.shared { lines.append(self.option(table, nil, option)) }
    for command in table.commands {
      let condition = command.words.map { "__fish_seen_subcommand_from \($0)" }.joined(separator: "; and ")
      for option in command.options { lines.append(self.option(table, condition, option)) }
      switch command.arguments {
      case .choices(let choices):
        lines.append(
          "complete -c \(table.program) -n \(quoted(condition)) -a \(quoted(choices.joined(separator: " ")))")
      case .file: lines.append("complete -c \(table.program) -n \(quoted(condition)) -F")
      case .words(let arguments):
        let words = quoted("(\(printing(table, arguments)))")
        lines.append("complete -c \(table.program) -n \(quoted(condition)) -a \(words)")
      case .anything: break
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func word(
    _ table: CompletionTable, _ condition: String, _ word: String, _ help: String
  ) -> String {
    "complete -c \(table.program) -n \(quoted(condition)) -a \(word) -d \(quoted(help))"
  }

  private static func option(
    _ table: CompletionTable, _ condition: String?, _ option: CompletionTable.Option
  ) -> String {
    var words = ["complete -c \(table.program)"]
    if let condition { words.append("-n \(quoted(condition))") }
    for name in option.names {
      words.append(name.hasPrefix("--") ? "-l \(name.dropFirst(2))" : "-s \(name.dropFirst())")
    }
    switch option.value {
    case .choices(let choices): words.append("-x -a \(quoted(choices.joined(separator: " ")))")
    case .file: words.append("-r -F")
    case .words(let arguments): words.append("-x -a \(quoted("(\(printing(table, arguments)))"))")
    case .anything: words.append("-x")
    case nil: break
    }
    return (words + ["-d \(quoted(option.help))"]).joined(separator: " ")
  }
}

// MARK: - Bash

// Completions for bash(1), Programmable Completion. Needs bash 4 and no other program. Pure.

extension Completions {
  static func bash(_ table: CompletionTable) -> String {
    let name = "_\(table.program)"
    let withValue = ofAll(table).filter { $0.value != nil }.flatMap(\.names)
    var lines = [
      "# bash completion for \(table.program); made by: \(table.program) completions bash", "",
      "\(name)() {",
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=() index skip=''",
      "  # --option=value comes as three words.",
      "  if [[ $current == '=' ]]; then current=''",
      "  elif [[ $previous == '=' ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi",
      "  for ((index = 1; index < COMP_CWORD; index++)); do",
      "    if [[ ${COMP_WORDS[index]} == '=' ]]; then skip=1; continue; fi",
      "    if [[ $skip ]]; then skip=''; continue; fi",
      "    case ${COMP_WORDS[index]} in",
      "      \(Set(withValue).sorted().joined(separator: "|"))) skip=1 ;;",
      "      -*) ;;",
      "      *) words+=(\"${COMP_WORDS[index]}\") ;;",
      "    esac", "  done",
      "  local command=\"${words[0]-} ${words[1]-}\"",
      "  COMPREPLY=()",
      "  case \"$command:$previous\" in",
    ]
    lines += table.commands.flatMap { command in values(of: command, table) }
    lines += ["  esac", "  if [[ $current == -* ]]; then", "    case \"$command\" in"]
    lines += table.commands.map { command in
      let names = (command.options + table.shared).flatMap(\.names).joined(separator: " ")
      return "      \(pattern(command.words))) \(reply(names)) ;;"
    }
    lines.append("      *) \(reply(table.shared.flatMap(\.names).joined(separator: " "))) ;;")
    lines += ["    esac", "    return", "  fi", "  case \"$command\" in"]
    lines.append("    ' ') \(reply(table.topics.map(\.word).joined(separator: " "))) ;;")
    for topic in table.topics {
      let verbs = table.verbs(of: topic.word).map(\.word)
      guard !verbs.isEmpty else { continue }
      lines.append("    '\(topic.word) ') \(reply(verbs.joined(separator: " "))) ;;")
    }
    lines += table.commands.compactMap { command in
      action(command.arguments, table).map { "    \(pattern(command.words))) \($0) ;;" }
    }
    lines += ["  esac", "}", "complete -F \(name) \(table.program)", ""]
    return lines.joined(separator: "\n")
  }

  private static func ofAll(_ table: CompletionTable) -> [CompletionTable.Option] {
    table.shared + table.commands.flatMap(\.options)
  }

  /// The completions for the value of an option.
  private static func values(of command: CompletionTable.Command, _ table: CompletionTable) -> [String] {
    (command.options + table.shared).compactMap { option in
      guard let value = option.value else { return nil }
      let patterns = option.names.map { name in
        let words = command.words.count > 1 ? command.words.joined(separator: " ") : "\(command.words[0]) *"
        return words.hasSuffix("*")
          ? "'\(words.dropLast())'*':\(name)'" : "'\(words):\(name)'"
      }
      return "    \(patterns.joined(separator: "|"))) \(action(value, table) ?? ":"); return ;;"
    }
  }

  private static func action(_ value: CompletionTable.Value, _ table: CompletionTable) -> String? {
    switch value {
    case .choices(let choices): reply(choices.joined(separator: " "))
    case .file: "mapfile -t COMPREPLY < <(compgen -f -- \"$current\")"
    case .words(let arguments):
      "mapfile -t COMPREPLY < <(compgen -W \"$(\(printing(table, arguments)))\" -- \"$current\")"
    case .anything: nil
    }
  }

  private static func reply(_ words: String) -> String {
    "mapfile -t COMPREPLY < <(compgen -W \(quoted(words)) -- \"$current\")"
  }

  private static func pattern(_ words: [String]) -> String {
    words.count > 1 ? "'\(words.joined(separator: " "))'" : "'\(words[0]) '*"
  }
}

// MARK: - Zsh

// Completions for zsh (zshcompsys(1), _arguments and _describe). Pure.

extension Completions {
  static func zsh(_ table: CompletionTable) -> String {
    let name = "_\(table.program)"
    var lines = [
      "#compdef \(table.program)", "# made by: \(table.program) completions zsh", "", "\(name)() {",
      "  local curcontext=$curcontext state line", "  local -a words_of", "  _arguments -C \\",
    ]
    lines += table.shared.map { "    \(argument($0, table)) \\" }
    lines += ["    '1: :->topic' '*:: :->rest'", "  case $state in", "    topic)", "      words_of=("]
    lines += table.topics.map { "        \(described($0.word, $0.help))" }
    lines += [
      "      )", "      _describe -t commands command words_of ;;", "    rest)", "      case $line[1] in",
    ]
    for topic in table.topics {
      let commands = table.commands.filter { $0.words[0] == topic.word }
      if let only = commands.first, only.words.count == 1 {
        lines +=
          ["        \(topic.word))"] + arguments(of: only, table, indent: "          ") + ["          ;;"]
      } else if !commands.isEmpty {
        lines.append("        \(topic.word))")
        lines += verbs(of: topic.word, commands, table)
        lines.append("          ;;")
      }
    }
    lines += ["      esac ;;", "  esac", "}", "", "\(name) \"$@\"", ""]
    return lines.joined(separator: "\n")
  }

  private static func verbs(
    of group: String, _ commands: [CompletionTable.Command], _ table: CompletionTable
  ) -> [String] {
    var lines = ["          if (( CURRENT == 2 )); then", "            words_of=("]
    lines += table.verbs(of: group).map { "              \(described($0.word, $0.help))" }
    lines += [
      "            )", "            _describe -t commands verb words_of", "          else",
      "            local verb=$words[2]", "            shift words; (( CURRENT-- ))",
      "            case $verb in",
    ]
    for command in commands {
      lines += ["              \(command.words[1]))"]
      lines += arguments(of: command, table, indent: "                ") + ["                ;;"]
    }
    return lines + ["            esac", "          fi"]
  }

  private static func arguments(
    of command: CompletionTable.Command, _ table: CompletionTable, indent: String
  ) -> [String] {
    let options = (command.options + table.shared).map { "\(indent)  \(argument($0, table)) \\" }
    let rest =
      switch command.arguments {
      case .choices(let choices): quoted("*: :(\(choices.joined(separator: " ")))")
      case .file: quoted("*:file:_files")
      case .words(let arguments): quoted("*: :{compadd -- $(\(printing(table, arguments)))}")
      case .anything: quoted("*: :")
      }
    return ["\(indent)_arguments \\"] + options + ["\(indent)  \(rest)"]
  }

  /// `'(-y --yes)'{-y,--yes}'[Do not ask]'`, or the same for a single name.
  private static func argument(_ option: CompletionTable.Option, _ table: CompletionTable) -> String {
    let help = option.help.replacing("\\", with: "\\\\").replacing("[", with: "\\[")
      .replacing("]", with: "\\]").replacing(":", with: "\\:")
    let value =
      switch option.value {
      case .choices(let choices): ":value:(\(choices.joined(separator: " ")))"
      case .file: ":file:_files"
      case .words(let arguments): ":value:{compadd -- $(\(printing(table, arguments)))}"
      case .anything: ":value: "
      case nil: ""
      }
    let text = "[\(help)]\(value)"
    guard option.names.count > 1 else { return quoted("*\(option.names[0])\(text)") }
    return "'*'{\(option.names.joined(separator: ","))}\(quoted(text))"
  }

  private static func described(_ word: String, _ help: String) -> String {
    quoted("\(word):\(help.replacing(":", with: "\\:"))")
  }
}
