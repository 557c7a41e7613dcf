// docs/configuration.md, generated from the declarations of the keys. Pure; any thread.

internal import Formats

/// The reference of the configuration as Markdown.
public enum ConfigurationDocument {
  public static let text = text(ConfigurationReference.keys)

  private static func text(_ keys: [KeyDescription]) -> String {
    let sections = ConfigurationEntry.all(keys).filter { !$0.key.shape.members.isEmpty }
    let chapters = sections.map { entry in
      let parent = "\(entry.path)\(entry.key.shape.infix)."
      let members = entry.key.shape.members.map { ConfigurationEntry(path: parent + $0.name, key: $0) }
      return chapter("`\(entry.path)`", entry.key.paragraph, members)
    }
    let outermost = keys.map { ConfigurationEntry(path: $0.name, key: $0) }
    let first = chapter("The outermost object", "Its other keys are the sections that follow.", outermost)
    return ([head, first] + chapters).joined(separator: "\n")
  }

  /// A section's purpose, and a table of its values.
  private static func chapter(_ title: String, _ words: String, _ entries: [ConfigurationEntry]) -> String {
    let rows = entries.filter(\.key.shape.members.isEmpty).map(row)
    let head = "| key | what it is | value | default |\n|---|---|---|---|"
    let table = rows.isEmpty ? "" : "\n\(head)\n\(rows.joined(separator: "\n"))\n"
    return "## \(title)\n\n\(words)\n\(table)"
  }

  private static func row(_ entry: ConfigurationEntry) -> String {
    let key = entry.key
    let example = key.standard == nil ? key.example.map { ", such as `\($0.json5)`" } ?? "" : ""
    let standard = key.standard.map { "`\($0)`" } ?? (key.need == .required ? "**required**" : "none")
    let effect = key.needsRestart ? " A change takes effect at the next start." : ""
    let cells = ["`\(entry.path)`", key.text + effect, "\(key.shape.words ?? "")\(example)", standard]
    return "| \(cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")) |"
  }

  private static let head = """
    # Configuration

    Every key of the configuration file. This document is generated from the declarations of the keys in
    `Sources/Config` ([record it](../Tests/README.md#record-snapshots)). `man receiptd.json5` says
    the same, `receiptctl config init` writes a file with every key in it, `receiptctl config check` reports
    every fault, and `receiptctl config show` shows what is in force.

    The file is JSON5: comments and trailing commas are allowed. An unknown key is a fault. Durations are
    `"250ms"`, `"30s"`, `"5m"`, `"72h"`, `"30d"`; sizes are `"512B"`, `"64KiB"`, `"1MiB"`, `"1GiB"`. A secret
    is one of these:

    | secret | read from |
    |---|---|
    | `"file:/path"` | a file, without the newline at its end, at the start and at each reload |
    | `"env:NAME"` | an environment variable, at the start only |
    | any other text | the text itself |

    It is a warning if every user of the machine can read a file with a secret, also a configuration file with
    such a text.

    `receiptctl reload` makes a running receiptd read the configuration again and apply all of it, or nothing
    if it has a fault. Some keys are used at the start only, which is said below.

    ## In an editor

    `receiptctl config schema` prints a JSON Schema (draft 2020-12). With it, an editor completes keys, shows
    what they are for, and marks what is wrong:

    ```sh
    receiptctl config schema > receiptd.schema.json
    ```

    Name it in the first line of the configuration; receiptd ignores this key:

    ```json5
    {
      "$schema": "./receiptd.schema.json",
    ```

    The IDEs of JetBrains read JSON5. Visual Studio Code reads JSON with comments: write the keys in quotes,
    and add `"files.associations": { "*.json5": "jsonc" }` to its settings.

    A schema cannot check everything: only `receiptctl config check` knows whether durations and sizes are in
    their ranges, and whether files and secrets can be read.

    """
}
