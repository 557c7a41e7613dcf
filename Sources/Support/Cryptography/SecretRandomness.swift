// Unpredictable random numbers without a system call for each. Thread-safe.

internal import Glibc
internal import Platform

/// The system's randomness (getentropy(3)), fetched for many numbers at once.
///
/// A number is erased from memory when it is returned, so that memory read later does not reveal it.
public final class SecretRandomness: RandomNumberGenerator, Sendable {
  private struct Pool {
    /// getentropy(3) returns up to 256 bytes.
    var numbers = InlineArray<32, UInt64>(repeating: 0)
    /// The number of unused values.
    var count = 0
  }

  private let pool = Monitor(Pool())

  public init() {}

  /// Ends the process when getentropy(3) fails, which it does not on a running Linux.
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
