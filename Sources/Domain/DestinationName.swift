// The names of destinations. Pure; any thread.

/// The name of a destination in the configuration, in rows and logs.
public struct DestinationName: TextID {
  public let text: String
  public init(_ text: String) { self.text = text }
}

/// An app and one of the destinations of its receipts. Each has its own breaker, so that a destination that
/// fails stops only the receipts that go there.
public struct AppDestination: Sendable, Hashable {
  public var app: AppSlug
  public var destination: DestinationName

  public init(_ app: AppSlug, _ destination: DestinationName) {
    self.app = app
    self.destination = destination
  }
}

extension [AppDestination: Breaker] {
  /// Of an app's breakers, the one that an operator should know of first; nil if the app has none.
  public func worst(of app: AppSlug, now: Timestamp) -> (destination: DestinationName, breaker: Breaker)? {
    sorted(of: app, now: now).first
  }

  /// An app's breakers in the order in which an operator should know of them: paused, open, resting, closed.
  public func sorted(of app: AppSlug, now: Timestamp) -> [(destination: DestinationName, breaker: Breaker)] {
    func rank(_ breaker: Breaker) -> Int {
      switch breaker.state {
      case .paused: 0
      case .open: 1
      case .closed: breaker.restUntil.map { $0 > now } == true ? 2 : 3
      }
    }
    return filter { $0.key.app == app }
      .sorted {
        (rank($0.value), $0.key.destination) < (rank($1.value), $1.key.destination)
      }
      .map { ($0.key.destination, $0.value) }
  }
}
