// An allocator for SQLite that fails on request. SQLite has one allocator for all connections, which must be
// set before the library is first used. So this needs a separate process: an exit test. Thread-safe.

internal import CSQLite
internal import Synchronization

/// SQLite's allocator, in which the n-th allocation can fail (https://www.sqlite.org/malloc.html).
public enum FailingMemory {
  private nonisolated(unsafe) static var original = unsafe sqlite3_mem_methods()
  /// The number of allocations before the one that fails; negative when none will fail.
  private static let remaining = Atomic<Int>(-1)
  private static let lasts = Atomic<Bool>(false)
  private static let isOut = Atomic<Bool>(false)
  private static let isPaused = Atomic<Bool>(false)
  private static let failures = Atomic<Int>(0)

  /// Replaces SQLite's allocator.
  /// - Returns: false when SQLite was already in use.
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

  /// Makes the n-th allocation from now on fail.
  /// - Parameter forEver: whether all later ones fail, too, until `heal`.
  public static func fail(nth: Int, forEver: Bool) {
    heal()
    lasts.store(forEver, ordering: .relaxed)
    remaining.store(nth - 1, ordering: .relaxed)
  }

  /// Ends the failures.
  public static func heal() {
    remaining.store(-1, ordering: .relaxed)
    isOut.store(false, ordering: .relaxed)
  }

  /// The number of allocations that failed.
  public static var refused: Int { failures.load(ordering: .relaxed) }

  /// Runs a closure in which no allocation fails, whatever fault is set.
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
