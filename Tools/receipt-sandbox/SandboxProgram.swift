// The program receipt-sandbox: simulated payment processors and destinations, to try a relay without any
// account. The main thread.

internal import Config
internal import Domain
internal import Glibc
internal import Platform
internal import Terminal

@main
struct ReceiptSandbox {
  static func main() {
    StandardStream.occupyAll()
    let dependencies = SandboxDependencies(output: .standard(program: SandboxProgram.name))
    exit(SandboxProgram.run(Array(CommandLine.arguments.dropFirst()), in: dependencies).rawValue)
  }
}

typealias Verb = CommandVerb<Session>

/// What receipt-sandbox needs of its process.
struct SandboxDependencies: Sendable {
  var output: Output
  var environment: Environment = .process
  var clock: any Clock = SystemClock()
  /// Blocks the signals that end a program and leaves them to `isStopped`. Called before a thread is started.
  var catchStop: @Sendable () -> Void = { Signals.block() }
  /// Waits for this long, and returns whether a signal asked the program to end.
  var isStopped: @Sendable (Duration) -> Bool = { Signals.wait(for: $0) == .stop }
}

/// One run of one command: its arguments and its dependencies.
struct Session {
  let command: ParsedCommand
  let dependencies: SandboxDependencies

  var output: Output { dependencies.output }
  var isJSON: Bool { command.flag("json") }

  /// The configuration of the relay.
  func configuration() throws -> Configuration {
    let environment = dependencies.environment
    let path = ConfigurationLoader.path(option: command.options["config"], environment: environment)
    return try ConfigurationLoader.load(path: path, environment: environment, secrets: .whereAvailable)
      .configuration
  }

  /// The app given by `--app`, or the only one.
  func app(_ configuration: Configuration) throws -> AppConfiguration {
    let slugs = configuration.apps.map(\.slug.text)
    guard let name = command.options["app"] else {
      guard slugs.count == 1 else {
        throw command.usage("say which app: --app \(slugs.joined(separator: ", --app "))")
      }
      return configuration.apps[0]
    }
    guard let app = configuration.app(AppSlug(name)) else {
      throw OperatorFault(
        .notFound,
        DisplayText.clean(
          "there is no app '\(name)' in the configuration; there is \(slugs.joined(separator: ", "))"))
    }
    return app
  }
}

enum SandboxProgram {
  static let name = "receipt-sandbox"

  /// In the order of help.
  private static let verbs: [Verb] = [
    DestinationCommand.verb, WebhookCommand.verb, StripeCommand.verb, SwedbankCommand.verb,
    AfterpayCommand.verb, CheckoutCommand.verb, EventCommand.verb, LoadCommand.verb,
    Verb(spec: Completions.command(of: name)) { session in
      session.output.text(Completions.script(of: spec, for: session.command))
      return .done
    },
  ]

  static let spec: ProgramSpec = ProgramSpec(
    name: name, version: BuildOrigin.version, origin: BuildOrigin.text,
    summary: "stand-ins for processors and destinations, to test a relay",
    discussion: """
      Stand-ins listen on this machine only and run until they are interrupted. checkout, event and load \
      send to the receiptd that the configuration describes: signed as the processor signs, so the \
      secrets must be readable here.
      """,
    options: [
      OptionSpec(
        "config", placeholder: "PATH",
        help: "receiptd's configuration file; else $\(ConfigurationLoader.pathVariable), else "
          + ConfigurationLoader.defaultPath),
      OptionSpec(flag: "json", help: "JSON objects instead of text, one per line"),
    ],
    commands: verbs.map(\.spec),
    examples: [
      ExampleSpec("receipt-sandbox checkout", "After the installation: does it deliver?"),
      ExampleSpec("receipt-sandbox destination", "A destination that accepts everything"),
    ])

  /// The text of its manual page.
  static var manual: String {
    ProgramManual(spec, section: 1).text(
      endingWith: [
        .done, .failed, .partly, .usage, .badData, .notFound, .unavailable, .tryAgain, .refused,
        .configuration,
      ],
      environment: [
        (ConfigurationLoader.pathVariable, "The configuration's path, unless --config names one.")
      ],
      files: [
        (ConfigurationLoader.defaultPath, "The default path of the configuration; see receiptd.json5(5).")
      ], seeAlso: ["receiptd(8)", "receiptctl(1)", "receiptd.json5(5)"])
  }

  /// Runs one command.
  /// - Parameter arguments: without the program's name.
  static func run(_ arguments: [String], in dependencies: SandboxDependencies) -> ExitCode {
    spec.run(arguments, verbs, output: dependencies.output) { error in
      ConfigurationFaults.lines(of: error).map { (.configuration, $0) }
    } session: {
      Session(command: $0, dependencies: dependencies)
    }
  }
}
