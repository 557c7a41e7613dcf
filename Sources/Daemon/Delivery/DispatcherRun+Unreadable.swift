// Reschedules receipts that cannot be read, so that they do not hold up others. The dispatcher's thread.

internal import Domain
internal import Formats
internal import Platform
internal import Service
internal import Store

extension DispatcherRun {
  /// After how long an unreadable receipt is read again. It stays pending: after a repair of the database it
  /// is delivered.
  private static var pause: Duration { .hours(1) }

  /// Reschedules due receipts whose content is damaged, or whose dictionary is missing.
  func reschedule(_ unreadable: [Unreadable], lane: inout Lane) {
    guard let fault = unreadable.last?.fault else { return }
    let (dispatcher, place, monotonic) = (dispatcher, lane.place, monotonic)
    dispatcher.faultLines.logFault(
      "could not read due receipts; they stay pending and are tried again in an hour, others are delivered",
      fault, app: place.app,
      ["destination": place.destination.text, "receipts": String(unreadable.count)], to: log, now: monotonic)
    for _ in unreadable { dispatcher.metrics.unreadableReceipts.increment(place.app.text) }
    for receipt in unreadable { lane.hold(row: receipt.row) }
    let until = now.advanced(by: Self.pause)
    let again = now.advanced(by: Dispatcher.faultPause)
    guard let tenure = tenures[place.app] else { return }
    let command = Fenced(tenure.fence, Reschedule(unreadable.compactMap(\.id), until: until))
    _ = dispatcher.committer.submit(command, from: .internal) { result in
      let next: Timestamp = if case .success = result { until } else { again }
      dispatcher.worker.post { inbox in
        inbox.stored += unreadable.map { receipt in
          Dispatcher.StoredOutcome(
            place: place, tenure: tenure, row: receipt.row,
            next: Lane.Due(at: next, isReplay: receipt.isReplay))
        }
      }
    }
  }
}
