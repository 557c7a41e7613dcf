// The last delivery of this process to each destination, for operators: another program with another
// environment may reach a destination that receiptd does not. Thread-safe.

public import Domain
internal import Platform

/// The last delivery to a destination. It names no user and no object (R7).
public struct DestinationContact: Sendable, Equatable {
  public var at: Timestamp
  /// Whether the destination answered.
  public var isAnswered: Bool
  /// The status, or why there is none: `200`, `connect_failed: pay.example:443: Connection refused`.
  public var outcome: String
  /// The address that was connected to, and the proxy if it is one; nil without a connection.
  public var route: String?
  /// How many receipts failed while others passed, and are retried separately.
  public var failingAlone: Int64
  /// When the first of them is due, as far as is known.
  public var aloneAt: Timestamp?

  public init(
    at: Timestamp, isAnswered: Bool, outcome: String, route: String?, failingAlone: Int64 = 0,
    aloneAt: Timestamp? = nil
  ) {
    (self.at, self.isAnswered, self.outcome) = (at, isAnswered, outcome)
    (self.route, self.failingAlone, self.aloneAt) = (route, failingAlone, aloneAt)
  }
}

/// The last delivery to each destination.
public final class DestinationContacts: Sendable {
  private let contacts = Monitor<[AppDestination: DestinationContact]>([:])

  public init() {}

  public var all: [AppDestination: DestinationContact] { contacts.withLock { $0 } }

  public func note(_ contact: DestinationContact, of place: AppDestination) {
    contacts.withLock { contacts in
      var contact = contact
      contact.aloneAt = contacts[place]?.aloneAt
      contacts[place] = contact
    }
  }

  public func note(failingAlone count: Int64, of place: AppDestination) {
    contacts.withLock { $0[place]?.failingAlone = count }
  }

  public func note(aloneAt moment: Timestamp?, of place: AppDestination) {
    contacts.withLock { $0[place]?.aloneAt = moment }
  }

  /// Drops what is not configured any more.
  public func keep(_ isConfigured: (AppDestination) -> Bool) {
    contacts.withLock { $0 = $0.filter { isConfigured($0.key) } }
  }
}
