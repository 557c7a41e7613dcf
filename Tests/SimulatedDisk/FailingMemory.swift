// Memory for SQLite that runs out when told to. The library has one memory for all its connections, chosen
// before it is first used, so this is for a process that does nothing else: an exit test. Any thread.

internal import CSQLite
internal import Synchronization

/// SQLite's memory, of which the n-th piece is not to be had (https://www.sqlite.org/malloc.html).
public enum FailingMemory {
  private nonisolated(unsafe) static var original = unsafe sqlite3_mem_methods()
  /// How many pieces come before the one that fails; negative when none will.
  private static let remaining = Atomic<Int>(-1)
  private static let lasts = Atomic<Bool>(false)
  private static let isOut = Atomic<Bool>(false)
  private static let isPaused = Atomic<Bool>(false)
  private static let failures = Atomic<Int>(0)

  /// Takes the place of SQLite's memory.
  /// - Returns: false when SQLite was used already.
  public static func install() -> Bool {
    guard unsafe csqlite_get_memory(&original) == SQLITE_OK else { return false }
    var methods = unsafe original
    unsafe methods.xMalloc = { size in
      if FailingMemory.isRefused() { return nil }
      return unsafe FailingMemory.original.xMalloc(size)
    }
    unsafe methods.xRealloc = { memory, size in
      if FailingMemory.isRefused() { return nil }
      return unsafe FailingMemory.original.xRealloc(memory, size)
    }
    return unsafe csqlite_set_memory(&methods) == SQLITE_OK
  }

  /// Lets the n-th piece from now on not be had.
  /// - Parameter forEver: whether there is none after it either, until `heal`.
  public static func fail(nth: Int, forEver: Bool) {
    heal()
    lasts.store(forEver, ordering: .relaxed)
    remaining.store(nth - 1, ordering: .relaxed)
  }

  /// There is memory again.
  public static func heal() {
    remaining.store(-1, ordering: .relaxed)
    isOut.store(false, ordering: .relaxed)
  }

  /// How many pieces were refused.
  public static var refused: Int { failures.load(ordering: .relaxed) }

  /// Does something for which there is memory whatever was ordered.
  public static func aside<Result>(_ body: () throws -> Result) rethrows -> Result {
    isPaused.store(true, ordering: .relaxed)
    defer { isPaused.store(false, ordering: .relaxed) }
    return try body()
  }

  private static func isRefused() -> Bool {
    if isPaused.load(ordering: .relaxed) { return false }
    if !isOut.load(ordering: .relaxed) {
      guard remaining.load(ordering: .relaxed) >= 0 else { return false }
      guard remaining.subtract(1, ordering: .relaxed).newValue < 0 else { return false }
      isOut.store(lasts.load(ordering: .relaxed), ordering: .relaxed)
    }
    failures.add(1, ordering: .relaxed)
    return true
  }
}
