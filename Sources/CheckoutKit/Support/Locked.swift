// A value behind a lock. `Synchronization.Mutex` needs iOS 18, so this uses `NSLock`. Thread-safe; no
// external code is called while the lock is held.

internal import Foundation

/// Guards a value. `@unchecked`, because the compiler cannot verify that the lock is held.
final class Locked<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
