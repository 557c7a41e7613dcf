// Looks whether the contexts of the apps still join. The alerter's thread.

internal import Config
internal import Domain
internal import Formats
internal import Store

struct JoinWatch {
  /// Between two looks: the counts are of hours.
  private static let lookInterval: Duration = .minutes(1)

  private var looks: [AppSlug: (at: Timestamp, unjoined: JoinTally?)] = [:]

  /// - Returns: the last hours of each app whose contexts no longer join. Nothing is read if no alert is
  ///   about contexts.
  mutating func unjoined(
    for alerts: [Configuration.Alert], apps: [AppSlug], reader: StoreReader, now: Timestamp
  ) throws(StoreFault) -> [AppSlug: JoinTally] {
    guard alerts.contains(where: { $0.on.contains(.contextsUnjoined) }) else { return [:] }
    for app in apps {
      // Also after the clock was set back.
      if let look = looks[app], (.zero..<Self.lookInterval).contains(now.duration(since: look.at)) {
        continue
      }
      looks[app] = (now, try reader.unjoined(app: app, now: now))
    }
    return looks.compactMapValues(\.unjoined)
  }
}
