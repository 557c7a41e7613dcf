// How long the deliveries to one destination took, and how many were accepted. Pure; any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store
internal import Terminal

struct DestinationLatencies {
  let place: AppDestination
  /// Shorter periods first.
  let windows: [(window: LatencyWindow, latencies: DeliveryLatencies)]

  init(
    _ reader: StoreReader, _ place: AppDestination, _ windows: [LatencyWindow], now: Timestamp
  ) throws(StoreFault) {
    self.place = place
    var found: [(LatencyWindow, DeliveryLatencies)] = []
    for window in windows { found.append((window, try reader.latencies(place, window, now: now))) }
    self.windows = found
  }

  /// The figures of a period, of all these destinations.
  static func sum(_ all: [DestinationLatencies], _ window: LatencyWindow) -> DeliveryLatencies {
    all.flatMap(\.windows).filter { $0.window == window }.map(\.latencies).reduce(DeliveryLatencies(), +)
  }

  /// The destination's name with the figures of each period.
  var json: JSONValue.Member {
    let periods = windows.map { window, latencies in
      JSONValue.Member(name: window.rawValue, value: Self.json(latencies))
    }
    return JSONValue.Member(name: place.destination.text, value: .object(periods))
  }

  private static func json(_ latencies: DeliveryLatencies) -> JSONValue {
    func milliseconds(_ counts: LatencyCounts, _ share: Double) -> JSONValue {
      .optional(counts.quantile(share)?.milliseconds)
    }
    return [
      "attempts": .integer(latencies.attempts.total), "accepted": .integer(latencies.accepted.total),
      "answer_p50_ms": milliseconds(latencies.attempts, 0.5),
      "answer_p99_ms": milliseconds(latencies.attempts, 0.99),
      "delivered": .integer(latencies.sincePayment.total),
      "payment_to_delivery_p50_ms": milliseconds(latencies.sincePayment, 0.5),
      "payment_to_delivery_p99_ms": milliseconds(latencies.sincePayment, 0.99),
    ]
  }

  /// `stats --latency`.
  static func table(_ stats: [AppStats]) -> Table {
    var table = Table(
      [
        .init("APP"), .init("DESTINATION"), .init("PERIOD"), .init("ATTEMPTS", alignment: .trailing),
        .init("ACCEPTED", alignment: .trailing), .init("P50", alignment: .trailing),
        .init("P99", alignment: .trailing), .init("FROM PAYMENT P50", alignment: .trailing),
        .init("FROM PAYMENT P99", alignment: .trailing),
      ], emptyMessage: "Nothing was sent in the last week.")
    for destination in stats.flatMap(\.latencies) {
      for (window, latencies) in destination.windows {
        table.add(
          [
            Table.Cell(destination.place.app.text), Table.Cell(destination.place.destination.text),
            Table.Cell(window.text), Table.Cell(count: latencies.attempts.total),
            Table.Cell(LatencyText.share(latencies.successRate)),
          ]
            + [latencies.attempts, latencies.sincePayment].flatMap { counts in
              [0.5, 0.99].map { Table.Cell(LatencyText.time(counts.quantile($0))) }
            })
      }
    }
    return table
  }
}
