// The keys that are not in the sorted tables yet, in memory: one for a database and its program. The writer's
// thread changes it; any thread reads it.

internal import Platform

/// The newest keys of a database; see `TieredKeys`.
public final class KeyMemory: Sendable {
  struct State: Sendable {
    /// Whether the writer has read the tail.
    var isLoaded = false
    /// What is added now.
    var active = KeyGeneration()
    /// What is moved into the sorted tables now.
    var sealed: KeyGeneration?
  }

  private let state = Monitor(State())

  public init() {}

  func withState<Result>(_ body: (inout State) -> Result) -> Result {
    state.withLock { state in body(&state) }
  }

  /// The rows in the newest entries of a key, newest first; negative ones are removed.
  /// - Returns: nil if the tail is not in memory.
  func rows(_ key: Int64, limit: Int) -> [Int64]? {
    state.withLock { state in
      guard state.isLoaded else { return nil }
      let found = state.active.rows(key, limit: limit)
      guard let sealed = state.sealed, found.count < limit else { return found }
      return found + sealed.rows(key, limit: limit - found.count)
    }
  }

  /// The entries of the keys in a range, oldest first.
  /// - Returns: nil if the tail is not in memory.
  func entries(_ keys: ClosedRange<Int64>) -> [KeyEntry]? {
    state.withLock { state in
      guard state.isLoaded else { return nil }
      let generations = [state.sealed, state.active].compactMap(\.self)
      return generations.flatMap { $0.entries.filter { keys.contains($0.key) && $0.row != 0 } }
    }
  }
}
