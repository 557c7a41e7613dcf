// What the committer does about faults of the database: a full disk, a sync that failed, a database that
// cannot be reached. The committer's thread, if not stated otherwise.

internal import Platform
internal import Store

extension Committer {
  private static let holdTime: Duration = .seconds(8)

  func handle(_ fault: StoreFault) {
    switch fault.kind {
    case .syncFailed:
      // The kernel may discard what it could not write (fsync(2)), and a second sync would succeed without
      // it. So nothing is stored any more: only a start that reads the disk again has the true state.
      let waiting = worker.post { queue in
        queue.isStopping = true
        defer { queue.waiting = [] }
        return queue.waiting
      }
      for item in waiting { item.submission.fail(fault) }
      onSyncFailure(fault)
    case .full: handleFullDisk()
    case .unreachable, .unavailable: handleUnavailable(fault)
    default: break
    }
  }

  /// Holds a batch while the database cannot be reached: processors wait at least 10 s for the answer to a
  /// webhook, and most failovers are over sooner. Once a batch was refused, those after it are refused at
  /// once.
  /// - Returns: false to refuse it.
  func waitForDatabase(since started: MonotonicInstant) -> Bool {
    let now = dependencies.clock.monotonic
    let isOver = worker.withInbox { $0.isUnavailable || $0.isStopping }
    guard !isOver, now.duration(since: started) < Self.holdTime else { return false }
    let _: Bool? = pauses.wait(until: MonotonicInstant.now().advanced(by: holdPause)) { _ in nil }
    return true
  }

  /// Requests that wait get their refusal now: each attempt to reach the database takes a while.
  private func handleUnavailable(_ fault: StoreFault) {
    for item in refuseRequests({ $0.isUnavailable = true }) { item.submission.fail(fault) }
  }

  /// Removes the waiting requests from the queue.
  /// - Parameter change: of the queue, at the same time.
  private func refuseRequests(_ change: (inout Queue) -> Void) -> [Waiting] {
    worker.post { queue in
      defer {
        queue.waiting.removeAll { $0.app != nil }
        queue.requests = [:]
      }
      change(&queue)
      return queue.waiting.filter { $0.app != nil }
    }
  }

  private func handleFullDisk() {
    // Waiting requests would use up the space that is released below.
    var isNews = false
    let refused = refuseRequests { queue in
      isNews = !queue.isDiskFull
      queue.isDiskFull = true
      queue.timesFull += 1
      queue.freeBytes = 0
    }
    let full = StoreFault(.full, operation: "queue", reason: "the disk is full")
    for item in refused { item.submission.fail(full) }
    if isNews {
      dependencies.log.error(
        "the disk is full: contexts and events are refused until there is space again; free some, or shorten "
          + "retention. Deliveries continue")
    }
    // The reserve's space is for the relay's own commands: outcomes of deliveries, waits, retention.
    reserve.release()
    do throws(StoreFault) {
      // Moving the log into the database frees the log's space for reuse.
      try writer.withLock { writer throws(StoreFault) in try writer.freeSpace() }
    } catch {
      // If this fails, the next batch that finds no space tries again.
      if error.kind == .syncFailed { handle(error) }
    }
  }

  /// Acquires the reserve for a full disk; if that succeeds, accepts requests again. May write to the disk,
  /// so it must not run on the committer's thread.
  public func checkSpace() {
    let timesFull = worker.withInbox { $0.timesFull }
    let taken = reserve.acquire()
    guard taken != .remote else { return tryToGrow(timesFull) }
    let isFull = worker.post { queue -> Bool? in
      // A write that found no space meanwhile takes precedence.
      guard queue.timesFull == timesFull else { return nil }
      let isFull = taken == .noSpace && queue.freeBytes < Self.roomBytes
      defer { queue.isDiskFull = isFull }
      if queue.isDiskFull, !isFull, queue.fault?.kind == .full { queue.fault = nil }
      return queue.isDiskFull == isFull ? nil : isFull
    }
    switch isFull {
    case true:
      dependencies.log.error(
        "the disk is nearly full: contexts and events are refused until it is not; free some space, or "
          + "shorten retention. Deliveries continue")
    case false: noteSpace()
    case nil: break
    }
    // Retention frees space inside the database file, which does not shrink.
    guard taken == .noSpace else { return }
    _ = submit(CountFreeSpace(), from: .internal) { [worker] result in
      if case .success(let bytes) = result { worker.withInbox { $0.freeBytes = bytes } }
    }
  }

  /// Accepts requests again if the database can grow. A failure for another reason than space leaves it to
  /// the next request to find out.
  private func tryToGrow(_ timesFull: Int) {
    guard isDiskFull else { return }
    _ = submit(TryToGrow(), from: .internal) { [self] result in
      if case .failure(let fault) = result, fault.kind == .full || fault.kind.isOutage { return }
      let isNews = worker.post { queue in
        // A write that found no space meanwhile takes precedence.
        guard queue.timesFull == timesFull, queue.isDiskFull else { return false }
        queue.isDiskFull = false
        return true
      }
      if isNews { noteSpace() }
    }
  }

  private func noteSpace() { dependencies.log.info("there is space on the disk again") }
}
