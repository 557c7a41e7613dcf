// `receiptctl links`: what devices do with links to the relay's hosts, and the association files that control
// it.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Terminal

enum LinksCommands {
  static let spec = CommandGroup("links", summary: "Links that open apps, and their association files")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["links", "check"], summary: "Check the association files, or how a device treats a URL",
        discussion: """
          Without URL, shows the files that receiptd serves for each host of the configuration, and their \
          rules. With URL (or a path, if there is one host), says for each app whether the link opens \
          in it or in the browser, and which rule decided: the first that matches. Works offline; --fetch \
          asks the hosts as Apple's and Google's servers do, without following redirects, and compares. Ends \
          with 65 when a file from disk has faults, 1 when a host serves something else, 69 when one does \
          not answer.
          """,
        arguments: [
          ArgumentSpec("URL", help: "a link, https://…, or its path", isRequired: false)
        ],
        options: [
          OptionSpec(
            "app", placeholder: "APP",
            help: "Only this app of the configuration; with --file, this app id or package"),
          OptionSpec(
            "file", placeholder: "FILE",
            help: "Look at this association file (Apple's or Android's) instead; - for stdin"),
          OptionSpec(flag: "fetch", help: "Ask the hosts for their files, too"),
        ],
        examples: [
          ExampleSpec("receiptctl links check", "The files, their size and their rules"),
          ExampleSpec(
            "receiptctl links check https://pay.example.com/v1/ios/return", "Does this open the app?"),
          ExampleSpec("receiptctl links check --fetch", "After the relay got its public name"),
          ExampleSpec(
            "receiptctl links check /buy/42 --file apple-app-site-association",
            "Test a file before serving it"
          ),
        ]), run: check)
  ]

  private static func check(_ session: Session) throws -> ExitCode {
    let options = session.command.options
    let app = options["app"].map(AppSlug.init)
    let url = try session.command.positionals.first.map { try self.url($0, session) }
    if let file = options["file"] {
      if session.command.flag("fetch") { throw session.usage("--fetch goes without --file") }
      return try LinkFileCheck(session, path: file, app: app).run(url)
    }
    let all = AssociationFiles.all(of: try session.wholeConfiguration().apps)
    var hosts = try self.hosts(all, app: app, session)
    if let url {
      hosts = try self.hosts(hosts, of: url)
      for files in hosts {
        LinkVerdicts(apple: files.apple, android: files.android, only: files.names(of: app))
          .show(url, session)
      }
    } else {
      LinkSurvey(hosts).show(session)
    }
    return session.command.flag("fetch") ? try LinkFetch(session).run(hosts) : .done
  }

  private static func url(_ text: String, _ session: Session) throws -> LinkURL {
    do throws(NameFault) {
      return try LinkURL(text)
    } catch {
      throw session.usage("URL \(error.description)")
    }
  }

  private static func hosts(
    _ all: [AssociationFiles], app: AppSlug?, _ session: Session
  ) throws -> [AssociationFiles] {
    guard !all.isEmpty else {
      throw OperatorFault(
        .notFound, "no app of the configuration has links; add links: { origin: \"https://…\", … }")
    }
    guard let app else { return all }
    let found = all.filter { $0.slugs.contains(app) }
    guard !found.isEmpty else {
      let near = EditDistance.nearest(to: app.text, among: all.flatMap(\.slugs).map(\.text))
      let advice = near.map { "; did you mean '\($0)'?" } ?? ""
      throw OperatorFault(.notFound, "there is no app '\(DisplayText.clean(app.text))' with links\(advice)")
    }
    return found
  }

  /// The host of a URL.
  private static func hosts(_ all: [AssociationFiles], of url: LinkURL) throws -> [AssociationFiles] {
    let names = all.map(\.host).joined(separator: ", ")
    guard let host = url.host else {
      guard all.count == 1 else {
        throw OperatorFault(.notFound, "a path alone may be of any of \(names); give the whole URL, or --app")
      }
      return all
    }
    let found = all.filter { $0.host == host }
    guard !found.isEmpty else {
      throw OperatorFault(
        .notFound,
        "\(DisplayText.clean(host)) is not the origin of an app, so the link opens in the browser. Origins: "
          + names)
    }
    return found
  }
}
