// The time at the relay, by which an outbox makes ids: the relay refuses those of a device whose clock is
// more than an hour ahead, or days behind. Called from any task; a lock guards the difference.

internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The device's time, corrected by the `Date` of the relay's last answer. The correction is stored, so that
/// it is known when the relay cannot be reached. It is wrong from a change of the device's clock to the next
/// answer.
final class RelayTime: Sendable {
  /// Seconds by which the clocks may differ without a correction: `Date` has no fractions, and an answer
  /// takes its time.
  private static let tolerance: TimeInterval = 60

  private let clock: any CheckoutClock
  private let folder: OutboxFolder?
  /// Seconds by which the relay's clock is ahead of the device's; nil before it was read.
  private let offset = Locked<TimeInterval?>(nil)

  init(_ clock: any CheckoutClock, _ folder: OutboxFolder?) { (self.clock, self.folder) = (clock, folder) }

  /// The time at the relay, as far as it is known.
  var now: Date {
    let date = clock.date
    return offset.withLock { offset in
      // If it cannot be read, it is read again later: it may be locked until the device is unlocked.
      if offset == nil { offset = folder?.clockOffset() }
      return date + (offset ?? 0)
    }
  }

  /// Reads the time of an answer, if it is the relay's own. Other answers come from elsewhere, such as a
  /// captive portal.
  func learn(from response: HTTPURLResponse, _ body: Data) {
    let now = clock.date
    guard let date = response.value(forHTTPHeaderField: "Date").flatMap(HTTPFailure.date) else { return }
    let type = response.value(forHTTPHeaderField: "Content-Type").map { LinkText.lowercased($0) } ?? ""
    guard
      (200...299).contains(response.statusCode)
        ? type.hasPrefix("application/json")
        : RelayError.http(HTTPFailure(response, body, now: now)).problemName != nil
    else { return }
    let difference = date.timeIntervalSince(now)
    let new = abs(difference) < Self.tolerance ? 0 : difference
    offset.withLock { offset in
      let old = offset ?? folder?.clockOffset() ?? 0
      offset = new
      if abs(new - old) >= Self.tolerance { folder?.save(clockOffset: new) }
    }
  }
}

/// Reads the time in the answers that another transport gets.
struct TimedTransport: Transport {
  let transport: any Transport
  let time: RelayTime

  func send(_ request: URLRequest) async throws -> (Data, URLResponse) {
    let (body, response) = try await transport.send(request)
    if let response = response as? HTTPURLResponse { time.learn(from: response, body) }
    return (body, response)
  }
}
