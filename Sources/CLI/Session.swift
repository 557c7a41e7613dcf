// One run of one command: its arguments and its dependencies. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Service
internal import Store
internal import Terminal

struct Session {
  let command: ParsedCommand
  let dependencies: OperatorDependencies
  /// The time at which the command started; relative times refer to it.
  let now: Timestamp
  /// Shared by every copy of this value.
  private let access: DatabaseAccess

  init(_ command: ParsedCommand, _ dependencies: OperatorDependencies) {
    self.command = command
    self.dependencies = dependencies
    now = Timestamp(unixMilliseconds: dependencies.clock.wallMilliseconds)
    access = DatabaseAccess()
  }

  private init(_ session: Session, dependencies: OperatorDependencies? = nil, now: Timestamp? = nil) {
    command = session.command
    access = session.access
    self.dependencies = dependencies ?? session.dependencies
    self.now = now ?? session.now
  }

  /// The same command with another output.
  func writing(to output: Output) -> Session {
    var dependencies = dependencies
    dependencies.output = output
    return Session(self, dependencies: dependencies)
  }

  /// The same command with `now` set to the current time.
  func again() -> Session { Session(self, now: moment) }

  var output: Output { dependencies.output }
  var isJSON: Bool { command.flag("json") }

  /// The current time, for what is stored.
  var moment: Timestamp { Timestamp(unixMilliseconds: dependencies.clock.wallMilliseconds) }

  /// A command-line mistake, with the command that shows help.
  func usage(_ message: String) -> UsageError { command.usage(message) }

  /// The path of the configuration file.
  var configurationPath: String {
    ConfigurationLoader.path(option: command.options["config"], environment: dependencies.environment)
  }

  /// The configuration, for reading the database: faults are a warning, as long as the file names the
  /// database, because receiptd may run on. Secrets that this user may not read have no value: few commands
  /// need one.
  /// - Parameter section: what the command needs besides the database.
  func configuration(using section: String? = nil) throws -> Configuration {
    let (configuration, faults) = try ConfigurationLoader.readable(
      path: configurationPath, environment: dependencies.environment)
    if let section, faults.contains(where: { $0.path.isEmpty || $0.path.hasPrefix(section) }) {
      return try wholeConfiguration()
    }
    if let first = faults.first {
      let others = faults.count == 1 ? "" : ", and \(CountText.of(faults.count - 1, "other fault"))"
      output.note(
        DisplayText.clean(
          "warning: the configuration is wrong (\(first)\(others)); only its database is used. Correct it: "
            + "receiptctl config check"))
    }
    return configuration
  }

  /// The configuration, for a command that needs the settings of apps or of alerts.
  func wholeConfiguration() throws -> Configuration {
    do throws(ConfigurationFaults) {
      return try ConfigurationLoader.load(
        path: configurationPath, environment: dependencies.environment, secrets: .whereAvailable
      ).configuration
    } catch {
      let need = Fault(
        path: "",
        message:
          "\(OperatorProgram.name) \(command.path.joined(separator: " ")) needs a configuration without "
          + "faults, because it uses more of it than the database; nothing was changed")
      throw ConfigurationFaults(faults: error.faults + [need], warnings: error.warnings)
    }
  }

  /// The database, for reading. It can be read while receiptd is down: as a guest, which may recover the WAL.
  func reader(_ configuration: Configuration) throws -> StoreReader { try reader(configuration.database) }

  /// The same with only the place known.
  func reader(_ place: DatabasePlace) throws -> StoreReader {
    do {
      // What is stored can be read on any server.
      return try access.engine(place, durability: .lossy, writes: false).openReader()
    } catch let error as StoreError {
      throw OperatorFault(error, place)
    }
  }

  /// The path of a database file, for code that opens it directly. No restore can replace the file until this
  /// command ends.
  func hold(file path: String) throws(OperatorFault) -> String { try access.open(path, writes: false) }

  /// The database, for writing.
  /// - Parameter usesApps: whether what is written depends on the apps' settings.
  func writer(_ configuration: Configuration, usesApps: Bool = true) throws -> StoreWriter {
    if usesApps, configuration.isPartial { _ = try wholeConfiguration() }
    let rules = try Dictionary(
      uniqueKeysWithValues: configuration.apps.map { ($0.slug, try App.rules(of: $0)) })
    do {
      return try access.engine(configuration.database, durability: configuration.durability, writes: true)
        .openWriter(rules: rules, random: SystemRandomNumberGenerator())
    } catch let error as StoreError {
      throw OperatorFault(error, configuration.database)
    }
  }

  /// How many replays of each app may be due at once before a job releases no more.
  func replayWindows(_ configuration: Configuration) -> [AppSlug: Int] {
    Dictionary(uniqueKeysWithValues: configuration.apps.map { ($0.slug, $0.delivery.replayWindow) })
  }

  /// The work on a job by this program. It leaves the receipts of an app that it does not know to a receiptd
  /// that does.
  func work(on job: Job, _ configuration: Configuration) throws -> JobWork {
    let own = replayWindows(configuration)
    var work = JobWork(job: job.row, windows: own)
    guard configuration.database.filePath == nil else { return work }
    let others = Set(try instances(configuration)?.running.flatMap(\.configured) ?? [])
    work.isMine = { own[$0] != nil || !others.contains($0) }
    return work
  }

  /// Whether a receiptd serves the database: the lock of a file shows it, and on a server the instances that
  /// were seen a moment ago.
  func isServed(_ configuration: Configuration, _ reader: StoreReader) throws(StoreFault) -> Bool {
    if let path = configuration.database.filePath { return daemon(path: path) != nil }
    let engine = try? access.engine(configuration.database, durability: .lossy, writes: false)
    return try engine?.hasInstances(reader) ?? false
  }

  /// The receiptds on a database, and its time; nil for a file.
  func instances(
    _ configuration: Configuration
  ) throws -> (now: Timestamp, running: [InstanceDescription])? {
    do {
      return try access.engine(configuration.database, durability: .lossy, writes: false).instances()
    } catch let fault as StoreFault {
      throw OperatorFault(StoreError.fault(fault), configuration.database)
    }
  }

  /// The receiptd that serves a database file; nil when none does, when this user may not see its lock, and
  /// for a server, whose instances are not on this machine.
  func daemon(_ configuration: Configuration) -> LockHolder? {
    configuration.database.filePath.flatMap { daemon(path: $0) }
  }

  /// The same with only the file's path known.
  func daemon(path: String) -> LockHolder? {
    guard let holder = dependencies.lockHolder(path), holder.purpose == .serving else { return nil }
    return holder
  }

  /// Wakes receiptd. If the signal cannot reach it, because it belongs to another user or runs in another
  /// container or on another machine, it polls every few seconds anyway.
  func wakeDaemon(_ configuration: Configuration) {
    if configuration.database.filePath == nil {
      // Instances that are not notified look every few seconds.
      try? access.engine(configuration.database, durability: .lossy, writes: false).notifyInstances()
      return
    }
    guard let process = daemon(configuration)?.process else { return }
    Signals.wake(process: process)
  }

  /// Announces, on a terminal, work that takes a while and has no progress display.
  func noteWork(_ text: String) { if output.notes.isTerminal { output.note(text) } }

  /// Continues only with `--yes` or after the operator's confirmation.
  func ask(_ question: String) throws {
    if command.flag("yes") { return }
    guard output.canAsk, !command.flag("no-input") else {
      throw OperatorFault(
        .refused,
        "nothing was changed: this needs a confirmation; add --yes to continue, or try --dry-run")
    }
    guard output.confirm(question) else { throw OperatorFault(.refused, "nothing was changed") }
  }
}

extension Session {
  /// `3 min ago`, or a hyphen without a time.
  func relative(_ time: Timestamp?) -> String {
    time.map { RelativeTime.text(of: $0.unixMilliseconds, now: now.unixMilliseconds) } ?? "-"
  }

  /// The time given by an option.
  func time(_ option: String) throws(UsageError) -> Timestamp? {
    try command.time(option, now: now.unixMilliseconds).map(Timestamp.init(unixMilliseconds:))
  }

  /// `--app`. An app that is no longer configured may still have receipts, so it only causes a note.
  func app(_ configuration: Configuration) throws -> AppSlug? {
    guard let slug = command.options["app"].map(AppSlug.init) else { return nil }
    guard configuration.app(slug) == nil, !configuration.isPartial else { return slug }
    let message = Self.unknown(slug, configuration)
    guard try reader(configuration).counts().contains(where: { $0.app == slug }) else {
      throw OperatorFault(.notFound, message)
    }
    output.note(message)
    return slug
  }

  /// `--app`, where only a configured app will do; nil without the option.
  func configuredApp(_ configuration: Configuration) throws -> AppConfiguration? {
    try command.options["app"].map { name in try configuredApp(AppSlug(name), configuration) }
  }

  /// A configured app.
  func configuredApp(_ slug: AppSlug, _ configuration: Configuration) throws -> AppConfiguration {
    guard let app = configuration.app(slug) else {
      if configuration.isPartial { _ = try wholeConfiguration() }
      throw OperatorFault(.notFound, Self.unknown(slug, configuration))
    }
    return app
  }

  private static func unknown(_ slug: AppSlug, _ configuration: Configuration) -> String {
    let apps = configuration.apps.map(\.slug.text)
    let near = EditDistance.nearest(to: slug.text, among: apps)
    let advice =
      near.map { "did you mean '\($0)'?" } ?? "there is \(DisplayText.clean(apps.joined(separator: ", ")))"
    return "there is no app '\(DisplayText.clean(slug.text))' in the configuration; \(advice)"
  }
}

extension Timestamp {
  /// RFC 3339, as HTTP answers and `--json` show it.
  var text: String { RFC3339.string(unixMilliseconds: unixMilliseconds) }
}

// MARK: - Audit

// What a command writes to the audit about its changes. One thread.

extension CommandTable {
  static let reasonCharactersMax = 1000

  /// `--why`, for every command that changes something. It was `--reason`, which in some commands filters
  /// receipts.
  static let why = OptionSpec("why", placeholder: "TEXT", help: "Why; kept in the audit", aliases: ["reason"])
}

extension Session {
  /// The reason that the operator gave.
  func why() throws(UsageError) -> String? {
    guard let text = command.options["why"] else { return nil }
    guard !text.allSatisfy(\.isWhitespace) else { throw usage("--why needs a few words") }
    guard text.count <= CommandTable.reasonCharactersMax else {
      throw usage("--why has at most \(CommandTable.reasonCharactersMax) characters")
    }
    return text
  }

  /// The command as the audit names it.
  private var action: String { command.path.joined(separator: " ") + (command.flag("undo") ? " --undo" : "") }

  /// An audit entry for this command, with the time now.
  func auditEntry(
    app: AppSlug? = nil, subject: String? = nil, reason: String? = nil, details: JSONValue = [:]
  ) -> AuditEntry {
    AuditEntry(
      at: moment, actor: dependencies.actor, action: action, app: app,
      subject: subject, reason: reason, details: details.text)
  }
}
