// Delivered and failed receipts per hour. Past hours are read once, so an overview costs the same at any rate
// of receipts. Guarded by the lock of its reader.

internal import Domain
internal import Formats
internal import Store

/// The hours of the last week.
struct DeliveryHistory {
  static let hours = ChartSpan.week.hours

  private var byHour: [Int64: [AppSlug: DeliveryCount]] = [:]

  /// Hours since 1970-01-01 UTC.
  static func hour(of moment: Timestamp) -> Int64 { moment.unixMilliseconds / 3_600_000 }

  static func start(ofHour hour: Int64) -> Timestamp {
    Timestamp(unixMilliseconds: 0) + .hours(hour)
  }

  /// Reads the hours that may have changed: the current one, and the previous one, whose last deliveries may
  /// be written late.
  mutating func update(_ reader: StoreReader, now: Timestamp) throws(StoreFault) {
    let current = Self.hour(of: now)
    let first = current - Self.hours + 1
    byHour = byHour.filter { (first...current).contains($0.key) }
    for hour in first...current where byHour[hour] == nil || hour >= current - 1 {
      byHour[hour] = try reader.deliveries(inHour: hour)
    }
  }

  /// The last hours of all apps together.
  func sum(last hours: Int64, now: Timestamp) -> DeliveryCount {
    let current = Self.hour(of: now)
    return ((current - hours + 1)...current).reduce(DeliveryCount()) { sum, hour in
      (byHour[hour] ?? [:]).values.reduce(sum, +)
    }
  }

  /// An app's last hours, oldest first.
  func counts(_ app: AppSlug, last hours: Int64, now: Timestamp) -> [DeliveryCount] {
    let current = Self.hour(of: now)
    return ((current - hours + 1)...current).map { byHour[$0]?[app] ?? DeliveryCount() }
  }
}
