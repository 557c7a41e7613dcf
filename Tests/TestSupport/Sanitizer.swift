// Adjusts tests to sanitizers (`make asan`, `make tsan`), under which the same code uses more memory.
// Thread-safe.

import Glibc

/// Whether this run uses a sanitizer.
public enum Sanitizer {
  /// `deploy/dev/sanitize` sets this variable.
  public static let isOn = unsafe getenv("SANITIZER") != nil

  /// A memory limit, in any unit. Red zones, shadow memory and the quarantine of freed memory multiply what
  /// the program uses.
  public static func memory(_ bound: Int) -> Int { isOn ? 4 * bound : bound }
}
