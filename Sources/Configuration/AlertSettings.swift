// The addresses that notices and heartbeats are sent to. Pure; any thread.

extension Configuration {
  /// One address that notices are posted to.
  public struct Alert: Sendable, Equatable {
    /// https, or http to this machine. The URL itself may be a secret.
    public var to: Secret
    /// At least one; no duplicates.
    public var on: [AlertCondition]
    /// The least time between two notices that one condition still holds. Counts, too, are taken over this
    /// time.
    public var everyMilliseconds: Int64
    /// Only these apps; nil means all of them.
    public var apps: [String]?

    public static let everyDefault: Int64 = 600_000

    public init(
      to: Secret, on: [AlertCondition], everyMilliseconds: Int64 = everyDefault, apps: [String]? = nil
    ) {
      self.to = to
      self.on = on
      self.everyMilliseconds = everyMilliseconds
      self.apps = apps
    }
  }

  /// A URL that is requested at intervals as long as all is well. The service behind it raises the alarm when
  /// the requests stop.
  public struct Heartbeat: Sendable, Equatable {
    public var to: Secret
    public var everyMilliseconds: Int64

    public static let everyDefault: Int64 = 60_000

    public init(to: Secret, everyMilliseconds: Int64 = everyDefault) {
      self.to = to
      self.everyMilliseconds = everyMilliseconds
    }
  }
}
