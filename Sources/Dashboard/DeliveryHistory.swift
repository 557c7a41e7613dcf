// How many receipts ended in each hour of the last days. Hours that are over are read once: an overview costs
// the same however much went through. Behind the lock of its reader.

internal import Domain
internal import Store

/// The hours of the last week.
struct DeliveryHistory {
  static let hours: Int64 = 7 * 24
  private static let hourMilliseconds: Int64 = 3_600_000

  private var byHour: [Int64: [String: DeliveryCount]] = [:]

  /// Hours since 1970.
  static func hour(of moment: Timestamp) -> Int64 { moment.unixMilliseconds / hourMilliseconds }

  static func start(ofHour hour: Int64) -> Timestamp {
    Timestamp(unixMilliseconds: hour.multipliedReportingOverflow(by: hourMilliseconds).partialValue)
  }

  /// Reads what may have changed. The hour before counts as such: its last deliveries may be written late.
  mutating func update(_ reader: StoreReader, now: Timestamp) throws(StoreFault) {
    let current = Self.hour(of: now)
    let first = current - Self.hours + 1
    byHour = byHour.filter { (first...current).contains($0.key) }
    for hour in first...current where byHour[hour] == nil || hour >= current - 1 {
      byHour[hour] = try reader.deliveries(inHour: hour)
    }
  }

  /// An app's last hours, the current one last.
  func counts(_ app: String, last hours: Int64, now: Timestamp) -> [DeliveryCount] {
    let current = Self.hour(of: now)
    return ((current - hours + 1)...current).map { byHour[$0]?[app] ?? DeliveryCount() }
  }
}
