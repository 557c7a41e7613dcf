// The programs that use a database together, for operators. Values.

public import Domain

/// A running program.
public struct InstanceDescription: Sendable, Equatable {
  /// Random, as long as the program runs.
  public var id: Int64
  public var host: String
  public var version: String
  /// Equal for programs whose configurations treat receipts equally.
  public var configuration: String
  /// Equal for programs whose secrets are equal.
  public var secrets: String
  public var startedAt: Timestamp
  public var seenAt: Timestamp
  /// How far its clock is ahead of the database's.
  public var clockAhead: Duration
  /// How many commands wait for its writer.
  public var queueDepth: Int
  /// Whether notifications of the other programs reach it.
  public var isNotified: Bool
  /// Names of the reasons why it is not ready, as `/readyz` has them; empty if it is.
  public var unreadiness: [String]
  /// The apps in its configuration.
  public var configured: Set<AppSlug>
  /// The apps that it delivers.
  public var apps: [AppSlug]
  /// Whether it does what one program does for all: retention, jobs, alerts.
  public var doesSharedWork: Bool

  public init(
    id: Int64, host: String, version: String, configuration: String, secrets: String = "",
    startedAt: Timestamp, seenAt: Timestamp, clockAhead: Duration, queueDepth: Int, isNotified: Bool,
    unreadiness: [String], configured: Set<AppSlug> = [], apps: [AppSlug], doesSharedWork: Bool
  ) {
    self.id = id
    self.host = host
    self.version = version
    self.configuration = configuration
    self.secrets = secrets
    self.startedAt = startedAt
    self.seenAt = seenAt
    self.clockAhead = clockAhead
    self.queueDepth = queueDepth
    self.isNotified = isNotified
    self.unreadiness = unreadiness
    self.configured = configured
    self.apps = apps
    self.doesSharedWork = doesSharedWork
  }
}
