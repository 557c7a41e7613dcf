// The model of the deliveries: a receipt that a destination accepted is not sent again, unless the relay
// could not know it.

import Store

/// The requests that destinations accepted, and of which the relay got the answer.
struct DeliveryMemory {
  /// With which right each receipt was last delivered, by app and object.
  private var accepted: [String: Fence] = [:]
  /// Receipts that were accepted twice, because the relay lost its right, or died, before the first outcome
  /// was stored.
  private(set) var repeats = 0

  /// Checks one request.
  /// - Parameters:
  ///   - right: differs for each life of the relay and each lease of the app. What is under way when one
  ///     ends is not known to the next.
  ///   - handedOver: rights that ended when nothing was under way.
  mutating func check(
    _ arrival: Arrival, _ right: Fence, handedOver: Set<Fence>, _ memory: inout Memory
  ) {
    let key = Memory.key(arrival.app, arrival.objectID)
    if let before = accepted[key], !memory.touched.contains(key) {
      repeats += 1
      if before == right || handedOver.contains(before) {
        memory.faults.append("R3: \(key) was sent again after its 2xx had arrived")
      }
    }
    if arrival.isHeard { accepted[key] = right }
  }
}
