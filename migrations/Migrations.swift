// The schema's history, compiled into the programs. A new version is a file here, its line in Package.swift,
// and its line below; what has been released is never changed.

/// Every migration, oldest first. The n-th brings a database to schema version n.
public enum Migrations {
  public static let all: [String] = [
    text(PackageResources.v0001_initial_sql), text(PackageResources.v0002_operations_sql),
    text(PackageResources.v0003_truth_sql),
  ]

  /// The newest version that a release contains. Later files may still change; these may not.
  public static let releasedVersion = 2

  /// The schema version that this program speaks.
  public static var currentVersion: Int { all.count }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
