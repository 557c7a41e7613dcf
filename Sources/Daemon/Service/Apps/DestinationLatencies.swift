// How long the deliveries to one destination took, and how many were accepted. Pure; any thread.

public import Domain
public import Formats
internal import Platform
public import Store

public struct DestinationLatencies: Sendable {
  public let place: AppDestination
  /// Shorter periods first.
  public let windows: [(window: LatencyWindow, latencies: DeliveryLatencies)]

  public init(
    _ reader: StoreReader, _ place: AppDestination, _ windows: [LatencyWindow], now: Timestamp
  ) throws(StoreFault) {
    self.place = place
    var found: [(LatencyWindow, DeliveryLatencies)] = []
    for window in windows { found.append((window, try reader.latencies(place, window, now: now))) }
    self.windows = found
  }

  /// The figures of a period, of all these destinations.
  public static func sum(_ all: [DestinationLatencies], _ window: LatencyWindow) -> DeliveryLatencies {
    all.flatMap(\.windows).filter { $0.window == window }.map(\.latencies).reduce(DeliveryLatencies(), +)
  }

  /// The destination's name with the figures of each period.
  public var json: JSONValue.Member {
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
}
