// One of several programs on a database: it says that it runs, acquires and renews leases, and exchanges
// notifications with the others. Two threads, each with its own connection, so that no batch delays a
// renewal.

internal import Domain
internal import Formats
internal import Platform
internal import Store

/// This program among the others. Thread-safe.
final class PostgresInstance: StoreInstance {
  /// Between two renewals. A program that ends without giving up its leases is replaced after the time of a
  /// lease and two of these at most.
  static let period: Duration = .milliseconds(500)
  /// The time limit of a call: a lease must end here before another program acquires it.
  static let timeLimit: Duration = .seconds(1)
  /// A clock that differs by more is reported.
  static let clockTolerance: Duration = .seconds(2)
  /// How long a lease is left to others by a program that has its share.
  static let patience: Duration = .seconds(2)
  /// How long deliveries under way may keep a lease that is being given up.
  static let leavingMax: Duration = .seconds(10)

  struct Inbox: WorkerInbox {
    var isStopping = false
    var apps: [AppSlug] = []
    var configuration = ""
    var secrets = ""
    var clockMax: Duration = .longest
    /// Texts of notifications to send.
    var news: [String] = []
    /// When the last notification of this program came back to it.
    var heardAt: MonotonicInstant?
    /// Leases whose previous owner's transactions may not have ended.
    var unsettled: Set<String> = []
  }

  struct ListenerInbox: WorkerInbox {
    var isStopping = false
  }

  let id = Int64.random(in: .min ... .max)
  let source: PostgresSource
  let calls: InstanceCalls
  let log: Log
  let held: HeldLeases
  /// The apps in the configurations of all running programs.
  let known = Monitor<Set<AppSlug>>([])
  let databaseClock = DatabaseClock()
  let worker = Worker("instance", inbox: Inbox())
  let listener = Worker("notifications", inbox: ListenerInbox())
  /// What is wrong with the database, as far as these threads know. Until the first contact it cannot be
  /// reached.
  let troubles = Monitor<Set<StoreTrouble>>([.unreachable])

  init(_ source: PostgresSource, _ calls: InstanceCalls, log: Log) {
    self.source = source
    self.calls = calls
    self.log = log
    held = HeldLeases(owner: id)
  }

  var clock: any Clock { databaseClock }
  func lease(of app: AppSlug) -> Lease? { held.lease(of: app) }
  func endingLease(of app: AppSlug) -> Lease? { held.endingLease(of: app) }
  var apps: Set<AppSlug>? { held.apps }
  var doesSharedWork: Bool { held.doesSharedWork }
  var configured: Set<AppSlug> { known.withLock { $0 } }

  func start() throws(SystemError) {
    try worker.start { [self] in
      var run = InstanceRun(self)
      run.loop()
    }
    try listener.start { [self] in
      var run = ListenerRun(self)
      run.loop()
    }
  }

  func stop() {
    listener.requestStop()
    worker.stop()
    listener.stop()
  }

  func use(apps: [AppSlug], configuration: String, secrets: String, clockMax: Duration) {
    worker.post { inbox in
      inbox.apps = apps
      inbox.configuration = configuration
      inbox.secrets = secrets
      inbox.clockMax = clockMax
    }
  }

  func note(_ changes: StoreChanges) {
    guard let text = InstanceNews.text(changes, from: id) else { return }
    worker.post { inbox in
      // If the database cannot be reached, one text says it all.
      if inbox.news.count >= 100 { inbox.news = [InstanceNews.anything(from: id)] }
      inbox.news.append(text)
    }
  }
}
