// The addresses that notices and heartbeats are sent to. Pure; any thread.

public import Domain
internal import Durations

extension Configuration {
  /// One address that notices are posted to.
  public struct Alert: Sendable, Equatable {
    /// https, or http to this machine. The URL itself may be a secret.
    public var to: Secret
    /// At least one; no duplicates.
    public var on: [AlertCondition]
    /// The least time between two notices that one condition still holds. Counts, too, are taken over this
    /// time.
    public var every: Duration
    /// Only these apps; nil means all of them.
    public var apps: [AppSlug]?

    public static let everyDefault: Duration = .minutes(10)

    public init(
      to: Secret, on: [AlertCondition], every: Duration = everyDefault, apps: [AppSlug]? = nil
    ) {
      self.to = to
      self.on = on
      self.every = every
      self.apps = apps
    }
  }

  /// A URL that is requested at intervals as long as all is well. The service behind it raises the alarm when
  /// the requests stop.
  public struct Heartbeat: Sendable, Equatable {
    public var to: Secret
    public var every: Duration

    public static let everyDefault: Duration = .seconds(60)

    public init(to: Secret, every: Duration = everyDefault) {
      self.to = to
      self.every = every
    }
  }
}
