// Completions for zsh (zshcompsys(1), _arguments and _describe). Pure.

extension Completions {
  static func zsh(_ table: CompletionTable) -> String {
    let name = "_\(table.program)"
    var lines = [
      "#compdef \(table.program)", "# made by: \(table.program) completions zsh", "", "\(name)() {",
      "  local curcontext=$curcontext state line", "  local -a words_of", "  _arguments -C \\",
    ]
    lines += table.shared.map { "    \(argument($0)) \\" }
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
    let options = (command.options + table.shared).map { "\(indent)  \(argument($0)) \\" }
    let rest =
      switch command.arguments {
      case .choices(let choices): quoted("*: :(\(choices.joined(separator: " ")))")
      case .file: quoted("*:file:_files")
      case .anything: quoted("*: :")
      }
    return ["\(indent)_arguments \\"] + options + ["\(indent)  \(rest)"]
  }

  /// `'(-y --yes)'{-y,--yes}'[Do not ask]'`, or the same for a single name.
  private static func argument(_ option: CompletionTable.Option) -> String {
    let help = option.help.replacing("\\", with: "\\\\").replacing("[", with: "\\[")
      .replacing("]", with: "\\]").replacing(":", with: "\\:")
    let value =
      switch option.value {
      case .choices(let choices): ":value:(\(choices.joined(separator: " ")))"
      case .file: ":file:_files"
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
