// Why the database cannot be used, in words for an operator.

public import SQLite

/// What can be wrong with a database when it is opened.
public enum StoreError: Error, Sendable, Equatable, CustomStringConvertible {
  case sqlite(SQLiteError)
  /// There is no database at the path, and this program does not make one.
  case missing
  /// The database belongs to another program.
  case foreign
  /// The schema is newer than this program.
  case newerSchema(found: Int, known: Int)
  /// The schema is older, and this program does not migrate.
  case olderSchema(found: Int, known: Int)
  /// The database did not take a setting on which durability rests.
  case unsafeSetting(String)

  public var description: String {
    switch self {
    case .sqlite(let error) where error.kind == .corrupt:
      "the database is damaged: \(error). What is lost, and what to do, says: receiptctl db check"
    case .sqlite(let error): "the database cannot be used: \(error)"
    case .missing: "there is no database there; start receiptd once, or check `database` in the configuration"
    case .foreign: "the file is a database of another program; check `database` in the configuration"
    case .newerSchema(let found, let known):
      "the database has schema version \(found), and this program knows versions up to \(known); "
        + "use the version of Receipt Relay that wrote it, or a newer one"
    case .olderSchema(let found, let known):
      "the database has schema version \(found), and this program needs \(known); "
        + "start the receiptd of this version once, it migrates the database"
    case .unsafeSetting(let name):
      "SQLite did not take the setting \(name); the database would not be durable"
    }
  }
}
