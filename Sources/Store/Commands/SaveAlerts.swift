// What was told about troubles: kept, so that a restart goes on from there.

public import Domain

/// What one destination was last told about one trouble.
public struct AlertRecord: Sendable, Equatable {
  /// Which trouble of which app, and who is told.
  public struct Key: Sendable, Hashable {
    /// A digest of the address, which may be a secret.
    public var destination: String
    /// As the configuration has it, such as `oldest_pending>15m`.
    public var condition: String
    /// Nil where it is about the whole relay.
    public var app: String?

    public init(destination: String, condition: String, app: String?) {
      self.destination = destination
      self.condition = condition
      self.app = app
    }
  }

  public var key: Key
  /// What was told last: that it is there, or that it is over.
  public var isFiring: Bool
  /// When the trouble began.
  public var since: Timestamp
  /// When it was last told that it is there.
  public var toldAt: Timestamp

  public init(key: Key, isFiring: Bool, since: Timestamp, toldAt: Timestamp) {
    self.key = key
    self.isFiring = isFiring
    self.since = since
    self.toldAt = toldAt
  }
}

/// Keeps what was told, and forgets what need not be known any more.
public struct SaveAlerts: StoreCommand {
  public var told: [AlertRecord]
  public var forgotten: [AlertRecord.Key]

  public init(told: [AlertRecord] = [], forgotten: [AlertRecord.Key] = []) {
    self.told = told
    self.forgotten = forgotten
  }

  public func apply(to store: StoreSession) throws(StoreFault) {
    for record in told { try store.alerts.save(record) }
    for key in forgotten { try store.alerts.forget(key) }
  }
}
