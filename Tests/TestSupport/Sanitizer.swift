// Adjusts tests to sanitizers (`make asan`, `make tsan`), under which the same code uses more memory.
// Thread-safe.

import Glibc

/// Whether this run uses a sanitizer.
public enum Sanitizer {
  /// `deploy/dev/sanitize` sets this variable.
  public static let isOn = name != nil

  /// Whether this run looks for races. Tests of code that uses one thread have none.
  public static let findsRaces = name == "thread"

  private static let name = unsafe getenv("SANITIZER").flatMap { unsafe String(validatingCString: $0) }

  /// A memory limit, in any unit. Red zones, shadow memory and the quarantine of freed memory multiply what
  /// the program uses.
  public static func memory(_ bound: Int) -> Int { isOn ? 4 * bound : bound }
}
