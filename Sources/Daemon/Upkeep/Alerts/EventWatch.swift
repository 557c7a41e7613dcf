// Looks whether an app gets events as usual. It reads the week before the last event once for each silence.
// The alerter's thread.

internal import Config
internal import Domain
internal import Formats
internal import Store

/// The silences of the apps.
struct EventWatch {
  /// Between two looks at the last event of an app.
  private static let lookInterval: Duration = .seconds(30)

  private struct Silence {
    var lookedAt: Timestamp
    /// Nil if no event is stored.
    var since: Timestamp?
    /// What is usual then; nil until it is needed.
    var usual: EventSilence?
  }

  private var silences: [AppSlug: Silence] = [:]

  /// - Returns: the time of the last event of each app whose silence is unusual, and longer than the shortest
  ///   limit of the alerts. Nothing is read if no alert is about events.
  mutating func unusual(
    for alerts: [Configuration.Alert], apps: [AppSlug], reader: StoreReader, now: Timestamp
  ) throws(StoreFault) -> [AppSlug: Timestamp] {
    let limits = alerts.flatMap(\.on).compactMap { condition -> Duration? in
      if case .noEvents(let limit) = condition { limit } else { nil }
    }
    guard let limit = limits.min() else { return [:] }
    var found: [AppSlug: Timestamp] = [:]
    for app in apps {
      let silence = try look(app, limit: limit, reader: reader, now: now)
      silences[app] = silence
      guard let since = silence.since, now.duration(since: since) > limit,
        silence.usual?.isUnusual(after: now.duration(since: since)) == true
      else { continue }
      found[app] = since
    }
    return found
  }

  private func look(
    _ app: AppSlug, limit: Duration, reader: StoreReader, now: Timestamp
  ) throws(StoreFault) -> Silence {
    var silence = silences[app] ?? Silence(lookedAt: now - Self.lookInterval, since: nil, usual: nil)
    let pause = now.duration(since: silence.lookedAt)
    // Also after the clock was set back.
    if pause >= Self.lookInterval || pause < .zero {
      silence.lookedAt = now
      let last = try reader.lastEvent(app: app)
      if last != silence.since { (silence.since, silence.usual) = (last, nil) }
    }
    if silence.usual == nil, let since = silence.since, now.duration(since: since) > limit {
      silence.usual = try Self.usual(app, before: since, reader)
    }
    return silence
  }

  private static func usual(
    _ app: AppSlug, before last: Timestamp, _ reader: StoreReader
  ) throws(StoreFault) -> EventSilence {
    let starts = (1...EventSilence.days).map { last - .days(Int64($0)) }
    let times = try reader.times(ofEvent: EventSilence.eventsMin, ofApp: app, from: starts)
    let tenths = starts.map { start in
      times[start].map { $0.duration(since: start) }.flatMap { $0 < EventSilence.spanMax ? $0 : nil }
    }
    return EventSilence(tenths: tenths)
  }
}

// MARK: - JoinWatch

// Looks whether the contexts of the apps still join. The alerter's thread.

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
