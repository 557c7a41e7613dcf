// The keys that are not in the sorted tables yet, in memory: one for a database and its program. The writer's
// thread changes it; any thread reads it.

internal import Platform

/// The newest keys of a database; see `TieredKeys`.
public final class KeyMemory: Sendable {
  struct State: Sendable {
    /// Whether the writer has read the tail.
    var isLoaded = false
    /// The generation that grows.
    var active = KeyGeneration()
    /// The generation that is being moved into the sorted tables.
    var sealed: KeyGeneration?
    /// The number of the last row of the tail, committed or not.
    var last: Int64 = 0
  }

  private let state = Monitor(State())

  public init() {}

  func withState<Result>(_ body: (inout State) -> Result) -> Result {
    state.withLock { state in body(&state) }
  }

  /// Adds the changes of a key to `found`, newest first, until it has `limit` rows with the key.
  /// - Returns: the number of the last row of the tail that is in memory; nil if the tail is not.
  func collect(_ key: Int64, limit: Int, into found: inout RecentRows) -> Int64? {
    state.withLock { state in
      guard state.isLoaded else { return nil }
      state.active.collect(key, limit: limit, into: &found)
      state.sealed?.collect(key, limit: limit, into: &found)
      return state.last
    }
  }

  /// The changes of the keys in a range, oldest first, and the number of the last row of the tail that is in
  /// memory.
  /// - Returns: nil if the tail is not in memory.
  func entries(_ keys: ClosedRange<Int64>) -> (entries: [KeyEntry], last: Int64)? {
    state.withLock { state in
      guard state.isLoaded else { return nil }
      let generations = [state.sealed, state.active].compactMap(\.self)
      let entries = generations.flatMap { $0.entries.filter { keys.contains($0.key) && $0.row != 0 } }
      return (entries, state.last)
    }
  }
}
