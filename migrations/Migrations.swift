// The schema's history for each engine, compiled into the programs. A new version is a file here, its line in
// Package.swift, and its line below; what has been released is never changed.

/// Every migration of an engine, oldest first. The n-th brings a database to schema version n.
public enum Migrations {
  public static let sqlite: [String] = [
    text(PackageResources.v0001_sqlite_sql), text(PackageResources.v0002_sqlite_sql),
    text(PackageResources.v0003_sqlite_sql),
  ]

  public static let postgres: [String] = [
    text(PackageResources.v0001_postgres_sql), text(PackageResources.v0002_postgres_sql),
    text(PackageResources.v0003_postgres_sql),
  ]

  /// The oldest version of PostgreSQL's schema whose programs may use the newest one: they run beside it
  /// while the instances are upgraded one after the other. A migration raises it that is not additive, or
  /// that older programs would not keep up to date.
  public static let postgresUsableFrom = 3

  /// The version of SQLite's schema that this program speaks.
  public static var currentVersion: Int { sqlite.count }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
