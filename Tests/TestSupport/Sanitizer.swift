// What tests have to know of sanitizers (`make asan`, `make tsan`): the same code then takes more memory. Any
// thread.

import Glibc

/// Whether this is a run under a sanitizer.
public enum Sanitizer {
  /// `deploy/dev/sanitize` says so by this variable.
  public static let isOn = unsafe getenv("SANITIZER") != nil

  /// A bound of memory, in whatever unit. Red zones, shadow memory and what is kept back after its end to
  /// catch late uses add a multiple of what the program asked for.
  public static func memory(_ bound: Int) -> Int { isOn ? 4 * bound : bound }
}
