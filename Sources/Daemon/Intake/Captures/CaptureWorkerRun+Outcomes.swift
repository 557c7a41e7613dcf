// How orders begin, and how captures end: what is stored, and who is answered. The capture worker's thread.

internal import Domain
internal import Partners
internal import Platform
internal import Reports
internal import Service
internal import Store

extension CaptureWorkerRun {
  // MARK: Orders

  /// Begins a capture whose order is on disk, or lets the request wait for the capture that it shares.
  mutating func admit(_ result: CaptureWorker.Ordered, of place: AppProcessor, for client: BackendClient) {
    switch result {
    case .success(.begun(let open, let isRepeat)):
      guard let captures = captures(of: place) else { return client.answer(.captureOutcomeUnknown) }
      if openCaptures[open.reference] == nil {
        add(open, of: place, CaptureRun(beginning: CapturablePayment(open), isRepeat: isRepeat, by: captures))
      }
      wait(client, for: open.reference, within: captures.answersWithin)
    case .success(.joined(let open)):
      guard let captures = captures(of: place) else { return client.answer(.captureOutcomeUnknown) }
      if openCaptures[open.reference] == nil { add(open, of: place, resumed(open)) }
      hasten(open.reference)
      wait(client, for: open.reference, within: captures.answersWithin)
    case .success(.ended(let outcome)): client.answer(BackendAnswer(outcome))
    case .success(.unknownPayment): client.answer(.unknownPayment)
    case .success(nil): client.refuse(.unknownApp)
    case .failure(let error):
      owner.parts.requestLog.couldNotStore(
        error, route: client.route, app: place.app, requestID: client.requestID)
      client.refuse(.storeFailed)
    }
  }

  private mutating func wait(_ client: BackendClient, for capture: CaptureReference, within time: Duration) {
    let request = AwaitedCapture(client: client, answerBy: clock.monotonic.advanced(by: time))
    openCaptures.add(request, to: capture)
  }

  /// Answers a request whose capture goes on.
  func leaveOpen(_ request: AwaitedCapture) { request.client.answer(.captureOutcomeUnknown) }

  // MARK: Replies

  /// Applies the reply to a step, and stores what it changed.
  /// - Parameter failure: of the connection, for the log.
  mutating func finish(
    _ capture: CaptureReference, step: CaptureRun.Step, _ reply: BackendReply, failure: String?,
    by captures: any PaymentCaptures
  ) {
    guard var entry = openCaptures[capture] else { return }
    let (failures, wasGivenUp) = (entry.run.capture.failures, entry.run.capture.isGivenUp)
    let progress = entry.run.finish(step, reply, by: captures, now: now)
    if let trouble = progress.trouble { note(trouble, failure, of: entry.place) }
    if let outcome = entry.run.capture.outcome {
      entry.ending = (outcome, progress.report)
      openCaptures[capture] = entry
      return end(capture)
    }
    openCaptures[capture] = entry
    let isGivenUp = entry.run.capture.isGivenUp
    if isGivenUp, !wasGivenUp { noteRefusal(reply, of: entry) }
    if entry.run.capture.failures != failures || isGivenUp != wasGivenUp {
      // If this is not stored, a restart continues with a shorter pause, or sends once more.
      _ = owner.parts.committer.submit(
        SaveCapture(
          capture, failures: entry.run.capture.failures, retryAt: entry.run.capture.retryAt,
          trouble: progress.trouble?.rawValue, isGivenUp: isGivenUp), from: .internal
      ) { _ in }
    }
    if self.captures(of: entry.place) == nil { return drop(capture) }
    schedule(capture)
  }

  private func noteRefusal(_ reply: BackendReply, of entry: CaptureEntry) {
    guard case .answer(let status, _, _) = reply else { return }
    owner.parts.dependencies.log.error(
      "the processor refused a capture: it is looked up, and not sent again",
      [
        "app": entry.place.app.text, "processor": entry.place.processor.text,
        "object": entry.run.payment.key.id.text, "status": String(status),
      ])
  }

  private func note(_ trouble: BackendTrouble, _ failure: String?, of place: AppProcessor) {
    owner.parts.metrics.backendTroubles.increment(place.app.text, place.processor.text, trouble.rawValue)
    owner.parts.requestLog.processorTrouble(
      trouble.words, reason: trouble.rawValue, isGrave: trouble == .credentials, of: place,
      failure: failure, requestID: nil)
  }

  // MARK: Outcomes

  /// Stores the outcome. The app is answered when it is on disk.
  mutating func end(_ capture: CaptureReference) {
    guard let entry = openCaptures[capture], let ending = entry.ending else { return }
    let worker = owner.worker
    let command = EndCapture(app: entry.place.app, capture, ending.outcome, report: ending.report)
    // An outcome of a removed app is not stored, because nothing would become of the purchase. The capture
    // stays open, and is looked up when there is such an app again.
    let isQueued = owner.parts.committer.submit(WhileConfigured(entry.place.app, command), from: .internal) {
      result in
      worker.post { $0.ended.append((capture, result)) }
    }
    // Only the stop refuses it. The next start looks the payment up.
    guard isQueued else { return drop(capture) }
    openCaptures[capture]?.activity = .storing
    endingCount += 1
  }

  mutating func finishEnding(_ capture: CaptureReference, _ result: Result<Bool?, StoreFault>) {
    endingCount -= 1
    guard let entry = openCaptures[capture], let ending = entry.ending else { return }
    switch result {
    case .success(.some):
      report(ending.outcome, of: entry)
      openCaptures[capture] = nil
      for request in entry.waiting { request.client.answer(BackendAnswer(ending.outcome)) }
    case .success(nil):
      drop(capture)
      // The app was removed and is there again, as two reloads in a row do.
      if captures(of: entry.place) != nil { readsAt[entry.place] = clock.monotonic }
    case .failure(let error):
      owner.parts.dependencies.log.error(
        "could not store the outcome of a capture; trying again. \(error.kind.advice)",
        ["app": entry.place.app.text, "processor": entry.place.processor.text, "error": error.description])
      if captures(of: entry.place) == nil { return drop(capture) }
      openCaptures.schedule(capture, at: clock.monotonic.advanced(by: CaptureWorker.faultPause))
    }
  }

  private func report(_ outcome: CaptureOutcome, of entry: CaptureEntry) {
    owner.parts.metrics.captures.increment(
      entry.place.app.text, entry.place.processor.text, outcome.kind.rawValue)
    let fields: LogFields = [
      "app": entry.place.app.text, "processor": entry.place.processor.text,
      "object": entry.run.payment.key.id.text,
    ]
    switch outcome.kind {
    case .captured, .declined, .unconfirmed: break
    case .refused:
      owner.parts.dependencies.log.info(
        "a payment cannot be captured any more; the payment at the processor says why", fields)
    case .abandoned:
      owner.parts.dependencies.log.error(
        "gave up a capture: its outcome is unknown after a week, or the processor refused it. Look at the "
          + "payment at the processor", fields)
    }
  }

  /// Forgets a capture that stays open in the database.
  private mutating func drop(_ capture: CaptureReference) {
    for request in openCaptures[capture]?.waiting ?? [] { leaveOpen(request) }
    openCaptures[capture] = nil
  }
}

extension CapturablePayment {
  init(_ open: OpenCapture) {
    self.init(key: open.key, facts: open.facts, startedAt: open.startedAt, orderedAt: open.orderedAt)
  }
}
