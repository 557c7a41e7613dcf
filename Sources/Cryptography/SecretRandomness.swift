// Random numbers that nobody can predict, without a system call for each. Any thread.

internal import Glibc
internal import Platform

/// The system's randomness (getentropy(3)), fetched for many numbers at once.
///
/// A number is forgotten when it is given out, so that what is in memory later says nothing of it.
public final class SecretRandomness: RandomNumberGenerator, Sendable {
  private struct Pool {
    /// getentropy(3) gives up to 256 bytes.
    var numbers = InlineArray<32, UInt64>(repeating: 0)
    /// How many of them are not given out yet.
    var count = 0
  }

  private let pool = Monitor(Pool())

  public init() {}

  /// Ends the process when the system has no randomness, which Linux has once it has started.
  public func next() -> UInt64 {
    pool.withLock { pool in
      if pool.count == 0 {
        let status = unsafe withUnsafeMutableBytes(of: &pool.numbers) { bytes in
          unsafe getentropy(bytes.baseAddress, bytes.count)
        }
        guard status == 0 else { fatalError("the system has no randomness") }
        pool.count = pool.numbers.count
      }
      pool.count -= 1
      defer { pool.numbers[pool.count] = 0 }
      return pool.numbers[pool.count]
    }
  }
}
