// How long deliveries took, in logarithmic buckets. Counted during a transaction and added to the rows once
// at its end: the deliveries of a batch fall into few buckets. The writer's thread.

internal import Domain
internal import Formats

final class LatencyRows {
  /// The length of a slot, in minutes.
  enum Slot {
    static let short: Int64 = 5
    /// That of slots that are some hours old.
    static let long: Int64 = 60
  }

  /// How long short slots are kept; at least an hour, for the figures of the last hour.
  static let shortKept: Duration = .hours(2)
  /// How long all are kept: a week, and one more day to read it.
  static let kept: Duration = .days(8)

  private struct Key: Hashable {
    var place: AppDestination
    var kind: DeliveryLatencies.Kind
    var bucket: Int64
  }

  private var counts: [Key: Int64] = [:]
  private let connection: StoreConnection
  private let adding: StoreStatement
  private let short: StoreStatement
  private let forgetting: StoreStatement

  init(_ connection: StoreConnection) throws(StoreFault) {
    self.connection = connection
    adding = try connection.prepare(
      """
      INSERT INTO latencies (app, destination, minutes, slot, kind, bucket, count)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT (app, destination, minutes, slot, kind, bucket)
          DO UPDATE SET count = latencies.count + excluded.count
      """)
    short = connection.prepareOnUse(Self.shortSQL)
    forgetting = connection.prepareOnUse(Self.forgettingSQL)
  }

  static let shortSQL = """
    SELECT slot, kind, bucket, count FROM latencies
    WHERE app = ?1 AND destination = ?2 AND minutes = ?3 AND slot < ?4
    """
  static let forgettingSQL =
    "DELETE FROM latencies WHERE app = ?1 AND destination = ?2 AND minutes = ?3 AND slot < ?4"

  /// Discards what a transaction counted that was rolled back. Called at the start of a transaction.
  func begin() { counts.removeAll(keepingCapacity: true) }

  func count(_ time: Duration, _ kind: DeliveryLatencies.Kind, at place: AppDestination) {
    counts[Key(place: place, kind: kind, bucket: LatencyBuckets.bucket(of: time)), default: 0] += 1
  }

  /// Adds what was counted to the rows. Called right before the commit.
  func end(now: Timestamp) throws(StoreFault) {
    guard !counts.isEmpty else { return }
    let slot = now.unixMinute - now.unixMinute % Slot.short
    for (key, count) in counts {
      try add(count, key.place, Slot.short, slot, kind: key.kind.rawValue, bucket: key.bucket)
    }
  }

  private func add(
    _ count: Int64, _ place: AppDestination, _ minutes: Int64, _ slot: Int64, kind: Int64, bucket: Int64
  ) throws(StoreFault) {
    try adding.run([
      .text(place.app), .text(place.destination), .integer(minutes), .integer(slot), .integer(kind),
      .integer(bucket), .integer(count),
    ])
  }

  /// Moves short slots that are old into their hour, and deletes hours that are old.
  func rollUp(now: Timestamp) throws(StoreFault) {
    let hour = (now - Self.shortKept).unixMinute / Slot.long * Slot.long
    for place in try connection.latencyPlaces() {
      let name: [StoreValue] = [.text(place.app), .text(place.destination)]
      let old = name + [.integer(Slot.short), .integer(hour)]
      var hours: [[Int64]: Int64] = [:]
      try short.forEach(old) { row throws(StoreFault) in
        let slot: Int64 = row.integer(0)
        hours[[slot - slot % Slot.long, row.integer(1), row.integer(2)], default: 0] += row.integer(3)
      }
      for (key, count) in hours {
        try add(count, place, Slot.long, key[0], kind: key[1], bucket: key[2])
      }
      try forgetting.run(old)
      try forgetting.run(name + [.integer(Slot.long), .integer((now - Self.kept).unixMinute)])
    }
  }
}
