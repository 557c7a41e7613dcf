// Stores the outcomes of deliveries, again after a fault. The dispatcher's thread.

internal import Domain
internal import Platform
internal import Reports
internal import Service
internal import Store

extension DispatcherRun {
  /// Submits an outcome to the committer. Until it is on disk the receipt counts as under way.
  func store(_ outcome: Fenced<RecordAttempt>) {
    let (dispatcher, clock, log) = (dispatcher, clock, log)
    let attempt = outcome.command
    let isQueued = dispatcher.committer.submit(outcome, from: .internal) { result in
      switch result {
      case .success(nil):
        log.warning(
          "another instance delivers the app now; the outcome of a delivery was not stored, and its receipt "
            + "may be sent again", ["app": attempt.place.app.text])
      case .success(let receipt?):
        guard let row = attempt.receipt.purchaseRow else { return }
        let stored = Dispatcher.StoredOutcome(
          place: attempt.place, tenure: Tenure(fence: outcome.fence), row: row, next: Lane.Due(receipt))
        dispatcher.worker.post { inbox in
          inbox.stored.append(stored)
          // Another receipt may have its row now, which was held back meanwhile.
          if receipt == nil { inbox.checksAll = true }
        }
      case .failure(let error):
        if let count = dispatcher.faultLines.admit(
          "\(attempt.place.app) \(error.kind.rawValue)", now: clock.monotonic)
        {
          log.error(
            "could not store the outcome of a delivery; trying again. \(error.kind.advice)",
            [
              "app": attempt.place.app.text, "error": error.description,
              "left_out": count > 0 ? String(count) : nil,
            ])
        }
        let again = clock.monotonic.advanced(by: Dispatcher.faultPause)
        dispatcher.worker.post { $0.unstored.append((outcome, again)) }
      }
    }
    if !isQueued {
      log.error(
        "an outcome arrived after the store was closed; its receipt is sent again",
        ["app": attempt.place.app.text])
    }
  }

  mutating func storeAgain() {
    let monotonic = monotonic
    let due = unstored.filter { $0.at <= monotonic }
    guard !due.isEmpty else { return }
    unstored.removeAll { $0.at <= monotonic }
    for var item in due {
      // Use the current breaker: other attempts may have changed it since.
      item.attempt.command.isRepeat = true
      let known = lanes[item.attempt.command.place]?.breaker
      item.attempt.command.breaker = known ?? item.attempt.command.breaker
      store(item.attempt)
    }
  }
}
