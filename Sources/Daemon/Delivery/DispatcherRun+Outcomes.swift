// Stores the outcomes of deliveries, again after a fault. The dispatcher's thread.

internal import Domain
internal import HTTPClient
internal import Partners
internal import Platform
internal import Reports
internal import Service
internal import Store

extension DispatcherRun {
  /// Submits an outcome to the committer. Until it is on disk the receipt counts as under way.
  func store(_ outcome: Fenced<RecordAttempt>) {
    let (worker, parts, clock, log) = (dispatcher.worker, parts, clock, log)
    let attempt = outcome.command
    let isQueued = parts.committer.submit(outcome, from: .internal) { result in
      switch result {
      case .success(nil):
        log.warning(
          "another instance delivers the app now; the outcome of a delivery was not stored, and its receipt "
            + "may be sent again", ["app": attempt.place.app.text])
      case .success(let receipt?):
        guard let row = attempt.receipt.purchaseRow else { return }
        let stored = Dispatcher.StoredOutcome(
          place: attempt.place, lease: Lease(fence: outcome.fence), row: row, next: Lane.Due(receipt))
        worker.post { inbox in
          inbox.stored.append(stored)
          // Another receipt may have its row now, which was held back meanwhile.
          if receipt == nil { inbox.checksAll = true }
        }
      case .failure(let error):
        if let count = parts.faultLines.admit(
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
        worker.post { $0.unstored.append((outcome, again)) }
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

// MARK: - Observations

// What the answer to a delivery shows besides its verdict. The dispatcher's thread.

extension DispatcherRun {
  /// A slower answer may have waited after it was dated.
  private static var delayMax: Duration { .seconds(1) }

  /// Publishes the result as the last contact with the destination.
  func note(_ result: TransferResult, at place: AppDestination, _ lane: Lane) {
    let outcome = result.status.map(String.init) ?? result.failureText ?? "no answer"
    parts.metrics.contacts.note(
      DestinationContact(
        at: now, isAnswered: result.status != nil, outcome: outcome, route: result.route,
        failingAlone: Int64(lane.failures.alone.count)),
      of: place)
  }

  /// Forgets receipts that failed alone, and that are not pending any more.
  mutating func forgetEnded() {
    for (place, lane) in lanes where !lane.failures.alone.isEmpty {
      // If the read fails, the next check tries again.
      guard let pending = try? reader.pending(among: Array(lane.failures.alone)) else { continue }
      var lane = lane
      lane.keepAlone(pending.map(\.row))
      lanes[place] = lane
      noteAlone(lane)
      parts.metrics.contacts.note(aloneAt: pending.compactMap(\.dueAt).min(), of: place)
    }
  }

  /// Publishes how many receipts of the lane fail alone.
  func noteAlone(_ lane: Lane) {
    parts.metrics.contacts.note(failingAlone: Int64(lane.failures.alone.count), of: lane.place)
  }

  /// Notes the certificate's end and the difference of the clocks.
  func observe(_ result: TransferResult, at place: AppDestination) {
    let metrics = parts.metrics
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

// MARK: - DeliveryAnswer

// The result of a transfer as the answer that destinations judge. Pure; called from any thread.

extension DeliveryAnswer {
  init(_ result: TransferResult) {
    let failure: Failure? = result.failure.map { fault in
      switch fault {
      case .certificateRejected, .certificateAuthorityUnreadable, .refusedURL, .refusedHeader:
        .misconfigured(fault.rawValue)
      default: .transient(fault.rawValue)
      }
    }
    self.init(
      status: result.status, retryAfter: result.header("Retry-After"),
      contentType: result.header("Content-Type"), body: result.body, failure: failure)
    isCoded = result.failure == .codedAnswer
  }
}
