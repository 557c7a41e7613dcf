// Which alerts an instance sends, as one of several on a database. Pure, but for the look at the sources.

internal import Config
internal import Reports
internal import Service
internal import Store

/// The alerts that an instance sends.
enum AlertDuty {
  /// All, and the heartbeat: it does the work that one instance does for all.
  case all
  /// Only those about the database, and their ends: no instance can do the shared work while the database
  /// cannot be reached, and this one did it last.
  case database
  case none

  func includes(_ key: Finding.Key) -> Bool {
    switch self {
    case .all: true
    case .database: key == .database
    case .none: false
    }
  }
}

extension Finding.Key {
  static let database = Finding.Key(condition: .database, app: nil)
  static let corruption = Finding.Key(condition: .corruption, app: nil)
  /// Those that are known without reading the database.
  static let ofDatabase = [database, corruption]
}

extension AlerterRun {
  /// The duty at this moment.
  func duty(after previous: AlertDuty) -> AlertDuty {
    if alerter.ownership.doesSharedWork { return .all }
    guard previous != .none else { return .none }
    if alerter.sources.database().contains(.databaseUnreachable) { return .database }
    // Another instance may not know of the alert, so it could not report its end.
    let hasReported = couriers.contains { courier in
      courier.ledger.records.contains { $0.isFiring && $0.key.condition == AlertCondition.database.text }
    }
    return previous == .database && hasReported ? .database : .none
  }
}
