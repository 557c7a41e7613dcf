// What the answer to a delivery shows besides its verdict. The dispatcher's thread.

internal import Domain
internal import Formats
internal import HTTPClient
internal import Partners
internal import Service
internal import Store

extension DispatcherRun {
  /// A slower answer may have waited after it was dated.
  private static var delayMax: Duration { .seconds(1) }

  /// Publishes the result as the last contact with the destination.
  func note(_ result: TransferResult, at place: AppDestination, _ lane: Lane) {
    let outcome = result.status.map(String.init) ?? result.failureText ?? "no answer"
    dispatcher.metrics.contacts.note(
      DestinationContact(
        at: now, isAnswered: result.status != nil, outcome: outcome, route: result.route,
        failingAlone: Int64(lane.failures.alone.count)),
      of: place)
  }

  /// Forgets receipts that failed alone, and that are not pending any more.
  mutating func forgetEnded() {
    for (place, lane) in lanes where !lane.failures.alone.isEmpty {
      // If the read fails, the next look tries again.
      guard let pending = try? reader.pending(among: Array(lane.failures.alone)) else { continue }
      lanes[place]?.keepAlone(pending)
      dispatcher.metrics.contacts.note(failingAlone: Int64(pending.count), of: place)
    }
  }

  /// Notes the certificate's end and the difference of the clocks.
  func observe(_ result: TransferResult, at place: AppDestination) {
    let metrics = dispatcher.metrics
    if let end = result.certificateExpiresAt {
      metrics.certificates.note(Timestamp(unixMilliseconds: end), of: .destination(place))
    }
    let (now, monotonic) = (now, monotonic)
    guard result.duration < Self.delayMax, metrics.clock.wantsSample(of: place, now: monotonic),
      let text = result.header("Date"), let date = HTTPDate.timestamp(text, now: now)
    else { return }
    // The date has whole seconds, so on average it is half a second old.
    metrics.clock.note(now.duration(since: date) - .milliseconds(500), from: place, now: monotonic)
  }
}
