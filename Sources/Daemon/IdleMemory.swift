// Gives memory back when a load has ended. A load keeps what it needs, to be fast; an idle daemon needs
// little.

internal import Platform

/// Notices that a load has ended. Thread-safe.
final class IdleMemory: Sendable {
  /// So few commits need no memory worth mentioning.
  static let commitsMin = 50
  /// Without a commit for so long, a load has ended.
  static let pause: Duration = .milliseconds(250)

  private struct State {
    /// Since memory was last released.
    var commits = 0
    var lastCommit: MonotonicInstant?
  }

  private let state = Monitor(State())
  private let clock: any Clock
  private let release: @Sendable () -> Void

  init(_ clock: any Clock, release: @escaping @Sendable () -> Void = { MemoryPolicy.releaseUnused() }) {
    self.clock = clock
    self.release = release
  }

  /// How many commits were noted since memory was last released.
  var commits: Int { state.withLock { $0.commits } }

  /// Notes a commit.
  func noteCommit() {
    let now = clock.monotonic
    state.withLock { state in
      state.commits += 1
      state.lastCommit = now
    }
  }

  /// Releases memory if there was a load, and it has ended. Called every few seconds.
  func poll() {
    let now = clock.monotonic
    let hasEnded = state.withLock { state in
      guard state.commits >= Self.commitsMin, let last = state.lastCommit,
        last.advanced(by: Self.pause) <= now
      else { return false }
      state.commits = 0
      return true
    }
    if hasEnded { release() }
  }
}
