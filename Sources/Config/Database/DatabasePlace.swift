// Where the database is: a file, or a PostgreSQL server. Values; any thread.

/// Where the database is.
public enum DatabasePlace: Sendable, Equatable, CustomStringConvertible {
  /// The path of a database file. The loader resolves a relative path against the configuration file's
  /// folder.
  case file(String)
  /// A database of a PostgreSQL server, which several programs may use at once.
  case postgres(DatabaseURL)

  /// The path of the file; nil for a server.
  public var filePath: String? {
    guard case .file(let path) = self else { return nil }
    return path
  }

  /// The URL of a server's database; nil for a file.
  var url: DatabaseURL? {
    guard case .postgres(let url) = self else { return nil }
    return url
  }

  /// The path, or the URL without its passwords (R7).
  public var description: String {
    switch self {
    case .file(let path): path
    case .postgres(let url): url.description
    }
  }
}

/// Which PostgreSQL servers may be used.
public enum DatabaseDurability: String, CaseIterable, Sendable {
  /// Only one that keeps what it has committed (R1).
  case safe
  /// Also one that another one may replace which lacks the last commits.
  case asynchronous
  /// Also one whose settings can lose what it has committed.
  case lossy = "unsafe"
}
