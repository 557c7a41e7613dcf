// The checkpointer's thread: copies the log into the database while the committer goes on. It uses only its
// own connection.

public import Platform
public import Store

/// Runs a pass of `BackgroundCheckpoint` on request.
public final class Checkpointer: BackgroundCheckpoints {
  private struct Inbox: WorkerInbox {
    var isAsked = false
    var isStopping = false
    var result: Result<Int, StoreFault>?
  }

  private let worker = Worker("checkpointer", inbox: Inbox())
  private let path: String
  private let onSyncFailure: @Sendable (StoreFault) -> Void
  private let onDamage: @Sendable (StoreFault) -> Void
  private let onHeldBack: @Sendable () -> Void

  /// - Parameters:
  ///   - path: the database; opened for the first pass.
  ///   - onHeldBack: called after a pass if readers kept more pages in the log than it may hold.
  public init(
    path: String, onSyncFailure: @escaping @Sendable (StoreFault) -> Void,
    onDamage: @escaping @Sendable (StoreFault) -> Void, onHeldBack: @escaping @Sendable () -> Void = {}
  ) {
    self.path = path
    self.onSyncFailure = onSyncFailure
    self.onDamage = onDamage
    self.onHeldBack = onHeldBack
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in run() }
  }

  /// Waits for the running pass, and ends the thread.
  public func stop() { worker.stop() }

  public func begin() {
    worker.post { inbox in
      inbox.isAsked = true
      inbox.result = nil
    }
  }

  public func popResult() -> Result<Int, StoreFault>? {
    worker.withInbox { inbox in
      defer { inbox.result = nil }
      return inbox.result
    }
  }

  private func run() {
    var checkpoint: BackgroundCheckpoint?
    while isAsked() {
      let result = pass(&checkpoint)
      worker.withInbox { $0.result = result }
    }
  }

  private func pass(_ checkpoint: inout BackgroundCheckpoint?) -> Result<Int, StoreFault> {
    do throws(StoreFault) {
      let opened =
        if let checkpoint { checkpoint } else { try BackgroundCheckpoint(path: path, onDamage: onDamage) }
      checkpoint = opened
      let moved = try opened.pass()
      if opened.pagesLeft >= StoreWriter.checkpointPages { onHeldBack() }
      return .success(moved)
    } catch {
      // Reported at once: the writer may have nothing to write for hours.
      if error.kind == .syncFailed { onSyncFailure(error) }
      return .failure(error)
    }
  }

  /// Waits for a request.
  /// - Returns: false when the thread must stop.
  private func isAsked() -> Bool {
    while true {
      let isAsked = worker.read { inbox -> Bool? in
        if inbox.isStopping { return false }
        defer { inbox.isAsked = false }
        return inbox.isAsked ? true : nil
      }
      if let isAsked { return isAsked }
      worker.wait()
    }
  }
}
