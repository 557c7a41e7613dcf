// Which of several programs on one database does the work that only one may do at a time.

public import Domain
public import Platform

/// What a transaction checks before it stores what an owner did: whether the app has another owner now.
public struct Fence: Sendable, Hashable {
  public var app: AppSlug
  /// The program.
  public var owner: Int64
  /// Grows with each change of the owner.
  public var epoch: Int64

  public init(app: AppSlug, owner: Int64, epoch: Int64) {
    self.app = app
    self.owner = owner
    self.epoch = epoch
  }
}

/// The lease under which a program delivers an app's receipts.
public struct Lease: Sendable, Hashable {
  /// Nil if no other program can have it.
  public var fence: Fence?

  public init(fence: Fence?) { self.fence = fence }
}

/// What this program may do. Thread-safe.
public protocol Ownership: Sendable {
  /// The lease of an app at this moment; nil if another program has it, or may have it.
  func lease(of app: AppSlug) -> Lease?
  /// The lease under which the deliveries of an app that are under way are completed, while the app is being
  /// given up: nothing new may begin. Nil if it is not.
  func endingLease(of app: AppSlug) -> Lease?
  /// The apps that this program owns at this moment; nil for all.
  var apps: Set<AppSlug>? { get }
  /// Whether this program does at this moment what one program does for all: retention, jobs, alerts.
  var doesSharedWork: Bool { get }
  /// The apps that a running program has in its configuration, this one or another.
  var configured: Set<AppSlug> { get }
}

extension Ownership {
  public var configured: Set<AppSlug> { [] }

  /// Whether this program releases a job's receipts of an app: its owner does, who has its rules. Those of an
  /// app that nobody has are skipped by the program that does the shared work.
  public func releasesJobs(of app: AppSlug) -> Bool {
    guard let apps else { return true }
    return apps.contains(app) || (doesSharedWork && !configured.contains(app))
  }
}

/// The only program on a database.
public struct SoleOwner: Ownership {
  public init() {}

  public func lease(of app: AppSlug) -> Lease? { Lease(fence: nil) }
  public func endingLease(of app: AppSlug) -> Lease? { nil }
  public var apps: Set<AppSlug>? { nil }
  public var doesSharedWork: Bool { true }
}

/// This program as one of several on a database.
public protocol StoreInstance: Ownership {
  /// The database's time.
  var clock: any Clock { get }
  func start() throws(SystemError)
  /// Gives up what it owns, so that others need not wait.
  func stop()
  /// Sets the apps that it may own.
  /// - Parameters:
  ///   - configuration: a digest that is equal for equal configurations.
  ///   - secrets: a digest that is equal for equal secrets.
  ///   - clockMax: with a larger difference between the clocks, the program is not ready.
  func use(apps: [AppSlug], configuration: String, secrets: String, clockMax: Duration)
  /// Notifies the other programs of a commit.
  func note(_ changes: StoreChanges)
}

/// What an instance needs from its program. Called from its thread, so they must not block.
public struct InstanceCalls: Sendable {
  /// The program's version, for operators.
  public var version: String
  /// What it owns has changed.
  public var onOwnership: @Sendable () -> Void
  /// Another program has changed the database; nil if it is not known what.
  public var onChanges: @Sendable (StoreChanges?) -> Void
  /// Completes the open transactions of an app's last owner, and calls back with the result.
  public var settle: @Sendable (AppSlug, @escaping @Sendable (Bool) -> Void) -> Void
  /// The database's clock was set; this program is the one that moves planned times along.
  public var onClockStep: @Sendable (Duration) -> Void
  /// Asks the writer to reach the database.
  public var pulse: @Sendable () -> Void
  /// Whether deliveries of an app are under way.
  public var isBusy: @Sendable (AppSlug) -> Bool
  /// How many commands wait for the writer.
  public var queueDepth: @Sendable () -> Int
  /// Names of the reasons why the program is not ready, as `/readyz` has them; empty if it is.
  public var unreadiness: @Sendable () -> [String]

  public init(
    version: String, onOwnership: @escaping @Sendable () -> Void,
    onChanges: @escaping @Sendable (StoreChanges?) -> Void,
    settle: @escaping @Sendable (AppSlug, @escaping @Sendable (Bool) -> Void) -> Void,
    onClockStep: @escaping @Sendable (Duration) -> Void = { _ in },
    pulse: @escaping @Sendable () -> Void, isBusy: @escaping @Sendable (AppSlug) -> Bool,
    queueDepth: @escaping @Sendable () -> Int, unreadiness: @escaping @Sendable () -> [String]
  ) {
    self.version = version
    self.onOwnership = onOwnership
    self.onChanges = onChanges
    self.settle = settle
    self.onClockStep = onClockStep
    self.pulse = pulse
    self.isBusy = isBusy
    self.queueDepth = queueDepth
    self.unreadiness = unreadiness
  }
}
