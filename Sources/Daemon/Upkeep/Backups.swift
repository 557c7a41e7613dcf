// Scheduled backups: copies the database file into a folder, deletes the oldest copies, and starts the
// program that takes a copy elsewhere. One thread with the lowest priority. Nothing waits for it but the
// stop, which interrupts it; the writer and requests do not notice it, and a fault is only reported.

public import Config
internal import Domain
internal import Formats
public import Platform
internal import Reports
public import Service
public import SQLiteStore
public import Store

/// The names of the copies in a folder: `receiptd-20261120T030000Z.db`. No other file is touched.
struct BackupNames {
  /// The path of each copy without its time.
  let start: String

  /// - Parameter database: its path; the copies have its name.
  init(folder: String, database: String) {
    let name = database.split(separator: "/").last.map(String.init) ?? "receiptd"
    start = "\(folder)/\(name.hasSuffix(".db") ? String(name.dropLast(3)) : name)-"
  }

  func path(at time: Timestamp) -> String {
    start + time.rfc3339.prefix(19).filter { $0 != "-" && $0 != ":" } + "Z.db"
  }

  /// The copies in the folder, the newest first. Those of the future are of a wrong clock, and count as the
  /// oldest.
  func copies(now: Timestamp) -> [(path: String, at: Timestamp)] {
    let all = FilePath.beginning(with: start).compactMap { path -> (path: String, at: Timestamp)? in
      time(of: path).map { (path, $0) }
    }
    return all.filter { $0.at <= now }.reversed() + all.filter { $0.at > now }.reversed()
  }

  /// What a copy has left that was interrupted with the process.
  func leftovers() -> [String] {
    FilePath.beginning(with: start).filter { path in
      path.firstRange(of: ".db.part").map { time(of: "\(path[..<$0.lowerBound]).db") != nil } ?? false
    }
  }

  private func time(of path: String) -> Timestamp? {
    let digits = Array(path.dropFirst(start.count).prefix(15))
    guard digits.count == 15 else { return nil }
    let (date, time) = (String(digits[..<8]), String(digits[9...]))
    func part(_ text: String, _ from: Int, _ count: Int) -> String {
      String(text.dropFirst(from).prefix(count))
    }
    let text =
      "\(part(date, 0, 4))-\(part(date, 4, 2))-\(part(date, 6, 2))T"
      + "\(part(time, 0, 2)):\(part(time, 2, 2)):\(part(time, 4, 2))Z"
    let at = RFC3339.unixMilliseconds(parsing: text).map(Timestamp.init(unixMilliseconds:))
    return at.flatMap { self.path(at: $0) == path ? $0 : nil }
  }
}

/// Makes the scheduled backups. Thread-safe.
public final class Backups: CopySteps, Sendable {
  /// How often the folder is looked at.
  static let lookInterval: Duration = .minutes(1)
  /// What a copy leaves free on its disk, so that requests can be stored meanwhile.
  static let spareBytes: Int64 = 256 << 20
  /// How long the program may run.
  static let programTime: Duration = .hours(6)
  private static let programPause: Duration = .seconds(1)
  /// An interrupt has no effect between two statements, so it is repeated.
  private static let interruptPause: Duration = .milliseconds(10)

  struct Inbox: WorkerInbox {
    var isStopping = false
    var settings: Configuration.Backup?
    /// Whether to try again at once, because of a reload.
    var isReloaded = false
    /// Ends the present step of a copy.
    var interrupt: (@Sendable () -> Void)?
    /// Whether the database is being read, so that the writer may not close it.
    var isReading = false
  }

  /// A program that takes a copy elsewhere.
  fileprivate struct Program {
    let process: Subprocess
    let file: String
    let startedAt: MonotonicInstant
    var isTooSlow = false
  }

  /// What the thread knows.
  struct Run: ~Copyable {
    fileprivate var program: Program?
    fileprivate var retryAt: MonotonicInstant?
    /// Whether the last copy differed from the database.
    fileprivate var hasDiffered = false

    init() {}
  }

  let worker: Worker<Inbox>
  private let database: String
  private let openReader: @Sendable () throws(StoreError) -> StoreReader
  private let committer: Committer
  private let health: HealthMonitor
  private let dependencies: Dependencies

  /// - Parameters:
  ///   - settings: nil for no backups.
  ///   - database: the path of its file.
  ///   - openReader: opens a connection for one copy.
  public init(
    _ settings: Configuration.Backup?, database: String,
    openReader: @escaping @Sendable () throws(StoreError) -> StoreReader, committer: Committer,
    health: HealthMonitor, dependencies: Dependencies
  ) {
    worker = Worker("backups", inbox: Inbox(settings: settings))
    (self.database, self.openReader, self.committer) = (database, openReader, committer)
    (self.health, self.dependencies) = (health, dependencies)
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in
      WorkerThread.yieldToOthers()
      var run = Run()
      while !worker.isStopping { worker.wait(until: step(&run)) }
      if let program = run.program {
        dependencies.log.warning(
          "backup: the program of backup.then is ended with receiptd", ["file": program.file])
      }
    }
  }

  /// Uses other settings from the next copy on.
  public func use(_ settings: Configuration.Backup?) {
    worker.post { ($0.settings, $0.isReloaded) = (settings, true) }
  }

  /// Ends reading the database, which the writer must close last.
  public func windDown() {
    worker.requestStop()
    while true {
      let (isReading, interrupt) = worker.withInbox { ($0.isReading, $0.interrupt) }
      guard isReading else { return }
      interrupt?()
      let never = Monitor(())
      let _: Bool? = never.wait(until: .now().advanced(by: Self.interruptPause)) { _ in nil }
    }
  }

  /// Ends the program. A copy that is being synced is waited for: if the process is killed first, the next
  /// copy removes what is left of it.
  public func stop() {
    windDown()
    worker.stop()
  }

  private var now: Timestamp { Timestamp(unixMilliseconds: dependencies.clock.wallMilliseconds) }

  /// Does what is due now.
  /// - Returns: when to look again.
  func step(_ run: inout Run) -> MonotonicInstant {
    let (settings, isReloaded) = worker.read { inbox in
      defer { inbox.isReloaded = false }
      return (inbox.settings, inbox.isReloaded)
    }
    if isReloaded { run.retryAt = nil }
    let monotonic = dependencies.clock.monotonic
    if run.program != nil { watchProgram(&run.program, monotonic) }
    let next = monotonic.advanced(by: run.program == nil ? Self.lookInterval : Self.programPause)
    guard let settings else {
      health.backup { $0 = nil }
      return next
    }
    let now = now
    let names = BackupNames(folder: settings.folder, database: database)
    let last = names.copies(now: now).first { $0.at <= now }?.at
    // The folder may be gone with its copies.
    let made = last ?? recordedAt()
    health.backup { backup in
      var known = backup ?? HealthReport.Backup(every: settings.every, since: now)
      (known.every, known.lastAt) = (settings.every, made ?? known.lastAt)
      backup = known
    }
    if let dueAt = last?.advanced(by: settings.every), now < dueAt {
      // It was one of other settings: with these there is a copy that is young enough.
      health.backup { $0?.fault = nil }
      return min(next, monotonic.advanced(by: dueAt.duration(since: now)))
    }
    if let retryAt = run.retryAt, monotonic < retryAt { return min(next, retryAt) }
    run.retryAt = nil
    do {
      let file = try copy(settings, names)
      run.hasDiffered = false
      if run.program == nil {
        try start(settings.then, file, &run.program)
      } else {
        note("backup: the program of backup.then still runs", "\(file) was not given to it", \.programFault)
      }
    } catch {
      guard !worker.isStopping else { return next }
      // Rows that were deleted meanwhile look like that: another copy shows whether it is more.
      if let fault = error as? BackupFault, fault.kind == .differs, !run.hasDiffered {
        run.hasDiffered = true
        return monotonic
      }
      run.retryAt = monotonic.advanced(by: HealthReport.Backup.retryPause(every: settings.every))
      note("backup: no copy of the database could be made; trying again", "\(error)", \.fault)
    }
    return monotonic
  }

  // MARK: Copies

  /// Makes a copy, and deletes the oldest ones.
  /// - Returns: its path.
  private func copy(_ settings: Configuration.Backup, _ names: BackupNames) throws -> String {
    for path in names.leftovers() { FileWriting.remove(path) }
    let at = now
    let copy = VerifiedCopy(to: names.path(at: at))
    let began = dependencies.clock.monotonic
    try fill(copy, settings)
    try copy.finish(self)
    // Otherwise copies would be made one after the other, and none be deleted.
    guard names.copies(now: at).contains(where: { $0.path == copy.path }) else {
      FileWriting.remove(copy.path)
      throw BackupFault(
        kind: .notPermitted, message: "cannot list the folder \(settings.folder); let receiptd read it")
    }
    let content: JSONValue = ["file": .string(copy.path)]
    let report = ServiceReport(name: .backup, at: at, content: content.text)
    _ = committer.submit(SaveServiceReport(report), from: .internal) { [log = dependencies.log] result in
      guard case .failure(let error) = result else { return }
      log.warning("backup: could not record it in the database", ["error": error.description])
    }
    for old in names.copies(now: at).dropFirst(settings.keep) where old.path != copy.path {
      FileWriting.remove(old.path)
    }
    health.backup {
      $0?.lastAt = at
      $0?.fault = nil
    }
    let took = dependencies.clock.monotonic.duration(since: began)
    dependencies.log.info(
      "backup: copied and verified the database", ["file": copy.path, "took": "\(took.milliseconds) ms"])
    return copy.path
  }

  /// When the database was last copied, by its own record; nil without one.
  private func recordedAt() -> Timestamp? {
    let report = try? reading { try openReader().serviceReport(.backup) }
    return report?.at
  }

  private func fill(_ copy: VerifiedCopy, _ settings: Configuration.Backup) throws {
    try reading { try read(copy, settings) }
  }

  /// The writer closes the database only after that.
  private func reading<Result>(_ body: () throws -> Result) throws -> Result {
    let mayRead = worker.withInbox { inbox in
      inbox.isReading = !inbox.isStopping
      return inbox.isReading
    }
    defer { worker.withInbox { ($0.isReading, $0.interrupt) = (false, nil) } }
    guard mayRead else { throw StoreFault(.interrupted, operation: "backup", reason: "receiptd stops") }
    return try body()
  }

  /// Its connection is closed when it returns.
  private func read(_ copy: VerifiedCopy, _ settings: Configuration.Backup) throws {
    // A folder that is not there may be a disk that is not mounted: made here, it would fill another one.
    guard let free = DiskSpace.availableBytes(at: settings.folder) else {
      throw BackupFault(
        kind: .noFolder, message: "there is no folder \(settings.folder); create it, or mount its disk")
    }
    let source = try openReader()
    let needed = try source.usedBytes() + Self.spareBytes
    guard free >= needed else {
      throw BackupFault(
        kind: .full,
        message: "\(settings.folder) has \(HealthReport.size(free)) free, and a copy needs "
          + "\(HealthReport.size(needed)); free space there, or lower backup.keep")
    }
    try copy.begin()
    _ = try copy.fill(from: source, self)
  }

  public func step<Result>(
    _ label: String, to end: Double, interrupt: (@Sendable () -> Void)?, measure: (@Sendable () -> Double)?,
    _ body: () throws -> Result
  ) throws -> Result {
    let isStopping = worker.withInbox { inbox in
      inbox.interrupt = interrupt
      return inbox.isStopping
    }
    // It keeps its connection open.
    defer { worker.withInbox { $0.interrupt = nil } }
    guard !isStopping else { throw StoreFault(.interrupted, operation: "backup", reason: "receiptd stops") }
    return try body()
  }

  public func report(_ share: Double, _ label: String?) {}

  // MARK: The program

  private func start(_ words: [String], _ file: String, _ program: inout Program?) throws {
    guard let path = words.first else {
      health.backup { $0?.programFault = nil }
      return
    }
    do throws(SystemError) {
      program = Program(
        process: try Subprocess(
          path, words.dropFirst() + [file], variables: Subprocess.variables, input: []),
        file: file, startedAt: dependencies.clock.monotonic)
    } catch {
      note("backup: cannot run the program of backup.then", "\(path): \(error.reason)", \.programFault)
    }
  }

  private func watchProgram(_ running: inout Program?, _ monotonic: MonotonicInstant) {
    guard var program = running else { return }
    if monotonic.duration(since: program.startedAt) >= Self.programTime {
      program.isTooSlow = true
      program.process.kill()
    }
    running = program
    guard let end = program.process.step() else { return }
    running = nil
    let words: String
    switch end {
    case .exited(code: 0):
      health.backup { $0?.programFault = nil }
      dependencies.log.info("backup: the program of backup.then has ended", ["file": program.file])
      return
    case .exited(let code): words = "exited with \(code)"
    case .killed where program.isTooSlow: words = "took longer than \(DurationText.text(Self.programTime))"
    case .killed(let signal): words = "was ended by signal \(signal)"
    }
    let said = program.process.said
    note(
      "backup: the program of backup.then failed",
      "\(program.file): it \(words)\(said.isEmpty ? "" : ": \(said)")", \.programFault)
  }

  /// Reports a fault until the next success.
  private func note(
    _ line: String, _ reason: String,
    _ fault: WritableKeyPath<HealthReport.Backup, HealthReport.Backup.Fault?>
  ) {
    let now = now
    health.backup { backup in
      let since = backup?[keyPath: fault]?.since ?? now
      backup?[keyPath: fault] = .init(since: since, reason: reason)
    }
    dependencies.log.error(line, ["error": reason])
  }
}
