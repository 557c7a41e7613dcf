// The checkpointer's thread: copies the log into the database while the committer goes on. It touches nothing
// but its own connection.

public import Platform
public import Store

/// Makes passes of `BackgroundCheckpoint` when it is asked to.
public final class Checkpointer: BackgroundCheckpoints {
  private struct State {
    var isAsked = false
    var isStopping = false
    var result: Result<Int, StoreFault>?
  }

  private let state = Monitor(State())
  private let path: String
  private let onSyncFailure: @Sendable (StoreFault) -> Void
  private let onDamage: @Sendable (StoreFault) -> Void
  private let onHeldBack: @Sendable () -> Void
  private let thread = Monitor<WorkerThread?>(nil)

  /// - Parameters:
  ///   - path: the database; opened for the first pass.
  ///   - onHeldBack: called after a pass that a reader kept from moving as much as the log may hold.
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
    let started = try WorkerThread(name: "checkpointer") { [self] in run() }
    thread.withLock { $0 = started }
  }

  /// Lets a pass that is under way end, and ends the thread.
  public func stop() {
    state.update { $0.isStopping = true }
    thread.withLock { $0?.join() }
  }

  public func begin() {
    state.update { state in
      state.isAsked = true
      state.result = nil
    }
  }

  public func takeResult() -> Result<Int, StoreFault>? {
    state.withLock { state in
      defer { state.result = nil }
      return state.result
    }
  }

  private func run() {
    var checkpoint: BackgroundCheckpoint?
    while isAsked() {
      let result = pass(&checkpoint)
      state.withLock { $0.result = result }
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
      // At once: the writer might have nothing to write for hours.
      if error.kind == .syncFailed { onSyncFailure(error) }
      return .failure(error)
    }
  }

  /// Waits until it is asked for a pass.
  /// - Returns: false when it is to stop.
  private func isAsked() -> Bool {
    state.wait { state -> Bool? in
      if state.isStopping { return false }
      guard state.isAsked else { return nil }
      state.isAsked = false
      return true
    } ?? false
  }
}
