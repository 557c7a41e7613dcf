// One run of one command: what was asked, and what it takes to answer. One thread.

internal import Apps
internal import Configuration
internal import Domain
internal import Platform
internal import Relay
internal import Store
internal import Terminal

/// One run of one command.
struct Session {
  let command: ParsedCommand
  let surroundings: Surroundings
  /// The moment that the command was given; relative times are seen from here.
  let now: Timestamp
  /// The same for every copy of this value.
  private let access: DatabaseAccess

  init(_ command: ParsedCommand, _ surroundings: Surroundings) {
    self.command = command
    self.surroundings = surroundings
    now = Timestamp(unixMilliseconds: surroundings.clock.wallMilliseconds)
    access = DatabaseAccess()
  }

  private init(_ session: Session, surroundings: Surroundings? = nil, now: Timestamp? = nil) {
    command = session.command
    access = session.access
    self.surroundings = surroundings ?? session.surroundings
    self.now = now ?? session.now
  }

  /// The same command with another output.
  func writing(to output: Output) -> Session {
    var surroundings = surroundings
    surroundings.output = output
    return Session(self, surroundings: surroundings)
  }

  /// The same command a while later.
  func again() -> Session { Session(self, now: moment) }

  var output: Output { surroundings.output }
  var isJSON: Bool { command.flag("json") }

  /// The time now, for what is written down.
  var moment: Timestamp { Timestamp(unixMilliseconds: surroundings.clock.wallMilliseconds) }

  /// A slip of the command line, with where help is.
  func usage(_ message: String) -> UsageError {
    let words = [OperatorProgram.name] + command.path + ["--help"]
    return UsageError(message, helpCommand: words.joined(separator: " "))
  }

  /// Where the configuration is.
  var configurationPath: String {
    ConfigurationLoader.path(option: command.options["config"], environment: surroundings.environment)
  }

  /// The configuration. Secrets that this person may not see are left out: few commands need one.
  func configuration() throws -> Configuration {
    try ConfigurationLoader.load(
      path: configurationPath, environment: surroundings.environment, secrets: .whereAvailable
    ).configuration
  }

  /// The database, for questions. It can be asked while receiptd is down: as a guest, who may recover its
  /// log.
  func reader(_ configuration: Configuration) throws -> StoreReader {
    try reader(path: configuration.databasePath)
  }

  /// The same where only the path is known.
  func reader(path databasePath: String) throws -> StoreReader {
    do {
      return try access.engine(databasePath, writes: false).openReader()
    } catch let error as StoreError {
      throw OperatorFault(error, path: databasePath)
    }
  }

  /// The path of the database, for what opens it itself; nobody replaces it until this command ends.
  func databasePath(_ configuration: Configuration) throws -> String {
    try access.open(configuration.databasePath, writes: false)
  }

  /// The database, for changes.
  func writer(_ configuration: Configuration) throws -> StoreWriter {
    let rules = try Dictionary(
      uniqueKeysWithValues: configuration.apps.map { ($0.slug, try App.rules(of: $0)) })
    do {
      return try access.engine(configuration.databasePath, writes: true)
        .openWriter(rules: rules, random: SystemRandomNumberGenerator())
    } catch let error as StoreError {
      throw OperatorFault(error, path: configuration.databasePath)
    }
  }

  /// How many replays of each app may be due at once before a job releases no more.
  func replayWindows(_ configuration: Configuration) -> [String: Int] {
    Dictionary(uniqueKeysWithValues: configuration.apps.map { ($0.slug, $0.delivery.replayWindow) })
  }

  /// The receiptd that serves the database; nil when none does, or when this person may not know.
  func daemon(_ configuration: Configuration) -> LockHolder? { daemon(path: configuration.databasePath) }

  /// The same where only the path of the database is known.
  func daemon(path: String) -> LockHolder? {
    guard let holder = DatabaseAccess.holder(path), holder.purpose == .serving else { return nil }
    return holder
  }

  /// Tells receiptd to look at once. One that cannot be told, because it is another user's or in another
  /// container, looks every few seconds anyway.
  func wakeDaemon(_ configuration: Configuration) {
    guard let process = daemon(configuration)?.process else { return }
    Signals.wake(process: process)
  }

  /// Says on a terminal what takes a while now and cannot tell how far it is.
  func noteWork(_ text: String) { if output.notes.isTerminal { output.note(text) } }

  /// Goes on only when `--yes` was given or a person agrees.
  func ask(_ question: String) throws {
    if command.flag("yes") { return }
    guard output.canAsk, !command.flag("no-input") else {
      throw OperatorFault(
        .refused,
        "nothing was changed: there is no terminal to ask on; add --yes to go ahead, or --dry-run to look")
    }
    guard output.confirm(question) else { throw OperatorFault(.refused, "nothing was changed") }
  }
}

extension Session {
  /// `3 min ago`, or a hyphen where there is no time.
  func relative(_ time: Timestamp?) -> String {
    time.map { RelativeTime.text(of: $0.unixMilliseconds, now: now.unixMilliseconds) } ?? "-"
  }

  /// A point in time that an option names.
  func time(_ option: String) throws(UsageError) -> Timestamp? {
    try command.time(option, now: now.unixMilliseconds).map(Timestamp.init(unixMilliseconds:))
  }

  /// `--app`. One that is not configured any more may still have receipts; then it is only remarked on.
  func app(_ configuration: Configuration) throws -> String? {
    guard let slug = command.options["app"], configuration.app(slug) == nil else {
      return command.options["app"]
    }
    let near = EditDistance.nearest(to: slug, among: configuration.apps.map(\.slug))
    let advice = near.map { "; did you mean '\($0)'?" } ?? ""
    let message = "there is no app '\(DisplayText.clean(slug))' in the configuration\(advice)"
    guard try reader(configuration).counts().contains(where: { $0.app == slug }) else {
      throw OperatorFault(.notFound, message)
    }
    output.note(message)
    return slug
  }
}

extension Timestamp {
  /// RFC 3339, as answers and `--json` have it.
  var text: String { RFC3339.string(unixMilliseconds: unixMilliseconds) }
}
