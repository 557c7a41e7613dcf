// A well-behaved client beside the hostile ones: an app that posts contexts and a Stripe that sends events,
// from its own address. It has its own thread.

import Formats
import Platform
import Testing

/// Sends checkouts one after another until it is stopped, and counts them. Owns its thread.
final class GoodClient {
  struct Served: Sendable {
    var checkouts: [Checkout] = []
    var milliseconds: [Int64] = []
    /// Requests that were refused or not answered; none is allowed.
    var failures: [String] = []
    var isOver = false
  }

  private let served = Monitor(Served())
  private let thread: WorkerThread

  /// - Parameter pause: between two checkouts.
  init(
    _ outside: Outside, name: String, app: String = "shop", pause: Duration = .zero
  ) throws {
    let served = served
    thread = try WorkerThread(name: "good-client") {
      var number = 0
      while !served.withLock({ $0.isOver }) {
        let checkout = Checkout("\(name)-\(number)")
        number += 1
        let start = MonotonicInstant.now()
        let failure = Self.send(checkout, app, outside)
        let took = MonotonicInstant.now().duration(since: start)
        served.update { served in
          served.milliseconds.append(took.milliseconds)
          if let failure { served.failures.append("\(checkout.user): \(failure)") }
          if failure == nil { served.checkouts.append(checkout) }
        }
        guard pause > .zero else { continue }
        let next = MonotonicInstant.now().advanced(by: pause)
        let _: Bool? = served.wait(until: next) { $0.isOver ? true : nil }
      }
    }
  }

  /// Why a checkout was not accepted; nil when it was.
  private static func send(_ checkout: Checkout, _ app: String, _ outside: Outside) -> String? {
    do {
      let posted = try outside.postContext(checkout.user, checkout.context, app: app)
      guard posted.status == 201 else { return "the context got \(posted.status): \(posted.text)" }
      let sent = try outside.send(checkout.completed, app: app)
      return sent.status == 200 ? nil : "the event got \(sent.status): \(sent.text)"
    } catch {
      return "no answer: \(error)"
    }
  }

  func waitFor(_ count: Int) throws {
    try waitUntil("the good client is served \(count) times") {
      let (isThere, failures) = served.withLock { ($0.checkouts.count >= count, $0.failures) }
      if let failure = failures.first { throw NeverHappened(what: "the good client is served: \(failure)") }
      return isThere
    }
  }

  /// Ends the thread.
  func stop() -> Served {
    served.update { $0.isOver = true }
    thread.join()
    return served.withLock { $0 }
  }
}

extension GoodClient.Served {
  /// The time within which this share of the checkouts was completed, both requests together.
  func milliseconds(share: Double) -> Int64 { milliseconds.percentile(share) }
}

extension [Int64] {
  /// The value that this share does not exceed; 0 without values.
  func percentile(_ share: Double) -> Int64 {
    let sorted = sorted()
    guard !sorted.isEmpty else { return 0 }
    return sorted[Swift.min(sorted.count - 1, Int((Double(sorted.count) * share).rounded(.down)))]
  }
}
