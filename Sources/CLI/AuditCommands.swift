// `receiptctl audit`: lists the operators' changes.

internal import Reports
internal import Store
internal import Terminal

enum AuditCommands {
  static let spec = CommandGroup("audit", summary: "Every change by an operator: when, who, what, why")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["audit", "list"], summary: "List changes, newest first",
        options: AuditFilter.options + Page.options(of: "change"),
        examples: [
          ExampleSpec("receiptctl audit list --since 1d", "All changes since yesterday"),
          ExampleSpec("receiptctl audit list --who ann --what 'apps pause'", "Which apps ann paused"),
          ExampleSpec(
            "receiptctl audit list --subject rcp_01KAGFN9P3V6T2QJ8D4W7XZ5RM", "The changes of one receipt"),
        ]), run: { try $0.list(AuditFilter.self) })
  ]
}
