// `receiptctl contexts`: the contexts that apps posted before web checkouts.

internal import Domain
internal import Formats
internal import Partners
internal import Reports
internal import Store
internal import Terminal

enum ContextsCommands {
  static let spec = CommandGroup("contexts", summary: "Contexts that apps posted before web checkouts")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["contexts", "list"], summary: "List contexts, newest first",
        options: ContextFilter.options + Page.options(of: "context"),
        examples: [
          ExampleSpec("receiptctl contexts list --user jdo-1", "The contexts of one user")
        ]), run: { try $0.list(ContextFilter.self) }),
    Verb(
      spec: CommandSpec(
        ["contexts", "show"], summary: "Show a context and its content",
        arguments: [ArgumentSpec("ID", help: "the context, ctx_…")],
        examples: [
          ExampleSpec("receiptctl contexts show ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD", "Its content, decoded")
        ]), run: show),
  ]

  private static func show(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let id = session.command.positionals[0]
    guard let context = try session.reader(configuration).context(id: ContextID(id), now: session.now) else {
      throw OperatorFault(
        .notFound,
        "there is no context \(DisplayText.clean(id)); it was never posted here, or it was older than "
          + "retention.contexts. List them with: receiptctl contexts list")
    }
    let output = session.output
    if session.isJSON {
      output.json(ContextResource.detail(of: context))
      return .done
    }
    output.line(Style.bold.applied(to: DisplayText.clean(context.id.text), inColour: output.isInColour))
    output.line("  app       \(DisplayText.clean(context.app.text))")
    output.line("  user      \(DisplayText.clean(context.userID.text))")
    output.line("  state     \(context.state.rawValue)")
    output.line("  price     \(DisplayText.clean(context.blob.priceID?.text ?? "none named"))")
    output.line("  receipt   \(DisplayText.clean(context.receiptID?.text ?? "none"))")
    output.line("  received  \(context.receivedAt.text) (\(session.relative(context.receivedAt)))")
    if context.postedAt > context.receivedAt {
      output.line("  again     \(context.postedAt.text) (\(session.relative(context.postedAt)))")
    }
    output.line("  expires   \(context.expiresAt.text) (\(session.relative(context.expiresAt)))")
    output.line()
    for line in lines(of: context.blob.text) { output.line(line) }
    return .done
  }

  /// The blob's JSON, or the blob unchanged if it is opaque.
  private static func lines(of blob: String) -> [String] {
    guard let bytes = PlyContext.bytes(of: blob), let value = try? JSONValue(parsing: bytes) else {
      return [DisplayText.clean(blob)]
    }
    return value.prettyText.split(separator: "\n").map { DisplayText.clean(String($0)) }
  }
}
