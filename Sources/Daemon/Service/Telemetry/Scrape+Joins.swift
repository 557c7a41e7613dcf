// How contexts join, in a scrape. Every number is a stored count.

internal import Domain
internal import Store

extension Scrape {
  /// The hours that are counted.
  private static let joinHours: Int64 = 24

  func writeJoins(
    of apps: [AppSlug], _ reader: StoreReader, to text: inout MetricsText
  ) throws(StoreFault) {
    var tallies: [(app: AppSlug, tally: JoinTally)] = []
    for app in apps {
      tallies.append((app, try reader.joinTally(app: app, last: Self.joinHours, now: now)))
    }
    text.gauge(
      "receiptd_joined_receipts", "Receipts made in the last 24 hours, by how they got their context.",
      tallies.flatMap { app, tally in
        JoinOutcome.allCases.map { outcome in
          ([("app", app.text), ("outcome", outcome.rawValue)], Double(tally[outcome]))
        }
      })
    text.gauge(
      "receiptd_posted_contexts", "Contexts posted in the last 24 hours.",
      tallies.map { ([("app", $0.app.text)], Double($0.tally.contexts)) })
    text.gauge(
      "receiptd_unclaimed_contexts", "Contexts posted in the last 24 hours that no purchase claimed.",
      tallies.map { ([("app", $0.app.text)], Double($0.tally.unclaimed)) })
  }
}
