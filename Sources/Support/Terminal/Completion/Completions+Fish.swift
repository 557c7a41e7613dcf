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
    case .anything: words.append("-x")
    case nil: break
    }
    return (words + ["-d \(quoted(option.help))"]).joined(separator: " ")
  }
}
