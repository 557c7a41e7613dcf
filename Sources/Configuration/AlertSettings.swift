// Who is told of troubles, and who is told that there are none. Pure; any thread.

extension Configuration {
  /// One address that notices are posted to.
  public struct Alert: Sendable, Equatable {
    /// https, or http to this machine. The address itself may be a secret.
    public var to: Secret
    /// At least one, each of them once.
    public var on: [AlertCondition]
    /// The least time between two notices that one trouble is there; what is counted is counted over it.
    public var everyMilliseconds: Int64
    /// Only these apps; all of them when nil.
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

  /// An address that is asked for at intervals as long as all is well: its owner raises the alarm when it is
  /// not.
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
