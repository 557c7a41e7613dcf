// Why a job releases nothing of an app. Values.

public import Domain

/// What holds an app's receipts, so that a job releases none of them.
public enum JobHold: Sendable, Equatable {
  /// A destination is down, or refuses the configuration; one receipt may go as the probe.
  case breaker(AppDestination, Breaker)
  /// An operator has paused the app.
  case pause(AppSlug, AppPause)

  public var app: AppSlug {
    switch self {
    case .breaker(let place, _): place.app
    case .pause(let app, _): app
    }
  }
}
