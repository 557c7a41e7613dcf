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
      action(command.arguments).map { "    \(pattern(command.words))) \($0) ;;" }
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
      return "    \(patterns.joined(separator: "|"))) \(action(value) ?? ":"); return ;;"
    }
  }

  private static func action(_ value: CompletionTable.Value) -> String? {
    switch value {
    case .choices(let choices): reply(choices.joined(separator: " "))
    case .file: "mapfile -t COMPREPLY < <(compgen -f -- \"$current\")"
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
