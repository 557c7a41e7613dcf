// A value that one thread at a time touches. `Synchronization.Mutex` needs iOS 18, so this is a lock of
// Foundation's. Any thread; nothing foreign is called while it is held.

internal import Foundation

/// Guards a value. Unchecked, because the compiler cannot see that the lock is always held.
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
