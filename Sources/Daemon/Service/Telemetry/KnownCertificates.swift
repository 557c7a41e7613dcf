// When certificates expire, as the listener and deliveries show it, for alerts and metrics. Thread-safe.

public import Domain
internal import Platform

/// When certificates expire.
public final class KnownCertificates: Sendable {
  /// Whose certificate it is.
  public enum Place: Sendable, Hashable {
    /// That of the public listener, which it got at its start.
    case listener
    /// That of the server of a destination.
    case destination(AppDestination)

    /// For metrics: `listener`, or the app and the name of its destination.
    public var label: String {
      switch self {
      case .listener: "listener"
      case .destination(let place): "\(place.app)/\(place.destination)"
      }
    }
  }

  private let ends = Monitor<[Place: Timestamp]>([:])

  /// The newest known end of each certificate.
  public var all: [Place: Timestamp] { ends.withLock { $0 } }

  public func note(_ expiresAt: Timestamp, of place: Place) { ends.withLock { $0[place] = expiresAt } }

  /// Drops what is not configured any more.
  public func keep(_ isConfigured: (AppDestination) -> Bool) {
    ends.withLock { ends in
      ends = ends.filter { place, _ in
        if case .destination(let destination) = place { isConfigured(destination) } else { true }
      }
    }
  }
}
