// Saves which alerts were sent, so that a restart repeats none.

public import Domain

/// The last notification about one condition to one destination.
public struct AlertRecord: Sendable, Equatable {
  /// The destination, the condition and the app.
  public struct Key: Sendable, Hashable {
    /// A digest of the address, which may be a secret.
    public var destination: String
    /// The condition as in the configuration, such as `oldest_pending>15m`.
    public var condition: String
    /// Nil if the condition concerns the whole relay.
    public var app: AppSlug?

    public init(destination: String, condition: String, app: AppSlug?) {
      self.destination = destination
      self.condition = condition
      self.app = app
    }
  }

  public var key: Key
  /// Whether the last notification said that the alert is firing; otherwise it said that it ended.
  public var isFiring: Bool
  /// When the condition began.
  public var since: Timestamp
  /// When the destination was last notified that the alert is firing.
  public var notifiedAt: Timestamp
  /// Whether that notification was sent but not answered, so that it may have arrived or not.
  public var isUnanswered: Bool

  public init(key: Key, isFiring: Bool, since: Timestamp, notifiedAt: Timestamp, isUnanswered: Bool = false) {
    self.key = key
    self.isFiring = isFiring
    self.since = since
    self.notifiedAt = notifiedAt
    self.isUnanswered = isUnanswered
  }
}

/// Saves sent notifications, and deletes those no longer needed.
public struct SaveAlerts: StoreCommand {
  public var sent: [AlertRecord]
  public var forgotten: [AlertRecord.Key]

  public init(sent: [AlertRecord] = [], forgotten: [AlertRecord.Key] = []) {
    self.sent = sent
    self.forgotten = forgotten
  }

  public var scope: CommandScope { .none }

  public func apply(to store: StoreSession) throws(StoreFault) {
    for record in sent { try store.alerts.save(record) }
    for key in forgotten { try store.alerts.forget(key) }
  }
}
