// How long deliveries took, and how many were accepted. Every number is a stored count, so the cost depends
// on the length of the period only.

public import Domain
internal import Formats

/// The periods of which operators see figures.
public enum LatencyWindow: String, Sendable, CaseIterable {
  case hour, day, week

  /// Its length.
  public var length: Duration {
    switch self {
    case .hour: .hours(1)
    case .day: .days(1)
    case .week: .days(7)
    }
  }
}

extension StoreConnection {
  /// Each skips the rows of a place: to the next destination, then to the next app.
  static let nextLatencyPlaceSQL = [
    """
    SELECT app, destination FROM latencies WHERE app = ?1 AND destination > ?2
    ORDER BY app, destination LIMIT 1
    """,
    """
    SELECT app, destination FROM latencies WHERE app > ?1 AND ?2 IS NOT NULL
    ORDER BY app, destination LIMIT 1
    """,
  ]

  /// The places with counts, sorted.
  func latencyPlaces() throws(StoreFault) -> [AppDestination] {
    var statements: [StoreStatement] = []
    for sql in Self.nextLatencyPlaceSQL { statements.append(try prepare(sql)) }
    func place(after last: AppDestination) throws(StoreFault) -> AppDestination? {
      for statement in statements {
        let found = try statement.first([.text(last.app), .text(last.destination)]) {
          row throws(StoreFault) in AppDestination(try row.text(0), try row.text(1))
        }
        if let found { return found }
      }
      return nil
    }
    var places: [AppDestination] = []
    while let next = try place(after: places.last ?? AppDestination("", "")) { places.append(next) }
    return places
  }
}

extension StoreReader {
  /// A slot belongs to a period in which it begins.
  static let latenciesSQL = """
    SELECT slot, kind, bucket, count FROM latencies
      WHERE app = ?1 AND destination = ?2 AND minutes = \(LatencyRows.Slot.short) AND slot >= ?3
    UNION ALL
    SELECT slot, kind, bucket, count FROM latencies
      WHERE app = ?1 AND destination = ?2 AND minutes = \(LatencyRows.Slot.long) AND slot >= ?3
    """

  /// The places to which something was delivered in the last days, sorted.
  public func latencyPlaces() throws(StoreFault) -> [AppDestination] { try connection.latencyPlaces() }

  /// The figures of one place in a period that ends now. They begin with a whole slot: up to five minutes
  /// earlier, or an hour if the period is long.
  public func latencies(
    _ place: AppDestination, _ window: LatencyWindow, now: Timestamp
  ) throws(StoreFault) -> DeliveryLatencies {
    let slot = window == .hour ? LatencyRows.Slot.short : LatencyRows.Slot.long
    let since = (now - window.length).unixMinute / slot * slot
    var found = DeliveryLatencies()
    try forEachLatency(place, since: since) { _, kind, bucket, count in
      found[kind].add(count, toBucket: bucket)
    }
    return found
  }

  /// The figures of one place, hour by hour; hours without attempts are left out.
  /// - Returns: by the number of hours since 1970.
  public func latenciesByHour(
    _ place: AppDestination, last hours: Int64, now: Timestamp
  ) throws(StoreFault) -> [Int64: DeliveryLatencies] {
    var found: [Int64: DeliveryLatencies] = [:]
    let first = now.unixMinute / LatencyRows.Slot.long - hours + 1
    try forEachLatency(place, since: first * LatencyRows.Slot.long) { slot, kind, bucket, count in
      found[slot / LatencyRows.Slot.long, default: DeliveryLatencies()][kind].add(count, toBucket: bucket)
    }
    return found
  }

  private func forEachLatency(
    _ place: AppDestination, since slot: Int64,
    _ body: (_ slot: Int64, DeliveryLatencies.Kind, _ bucket: Int64, _ count: Int64) -> Void
  ) throws(StoreFault) {
    try connection.prepare(Self.latenciesSQL).forEach([
      .text(place.app), .text(place.destination), .integer(slot),
    ]) { row throws(StoreFault) in
      // A kind of a newer version is left out.
      guard let kind = DeliveryLatencies.Kind(rawValue: row.integer(1)) else { return }
      body(row.integer(0), kind, row.integer(2), row.integer(3))
    }
  }
}
