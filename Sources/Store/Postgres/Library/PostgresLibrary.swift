// Loads libpq when the first database URL is read. Thread-safe.

internal import CPostgreSQL

/// libpq, which is loaded at run time.
enum PostgresLibrary {
  /// Loads the library, if this has not been done.
  /// - Throws: `noLibrary`, with the package that contains it.
  static func load() throws(PostgresError) {
    guard let message = unsafe cpg_load() else { return }
    throw PostgresError(
      .noLibrary, operation: "load libpq",
      reason: unsafe String(cString: message)
        + "; a PostgreSQL database needs libpq 14 or later: apt-get install libpq5")
  }
}
