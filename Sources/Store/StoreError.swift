// Why the database cannot be opened, in words for an operator.

public import Domain
internal import Platform

/// A fault found when a database is opened.
public enum StoreError: Error, Sendable, Equatable, CustomStringConvertible {
  case fault(StoreFault)
  /// There is no database at the path, and this program does not create one.
  case missing
  /// The database belongs to another program.
  case foreign
  /// A version of the time before 1.0.0 made the database. Its schema is not upgraded.
  case ofDevelopment
  /// The schema is newer than this program.
  case newerSchema(found: Int, known: Int)
  /// The schema is older, and this program does not migrate.
  case olderSchema(found: Int, known: Int)
  /// A setting that durability depends on could not be set.
  case unsafeSetting(String)
  /// Several schemas have the tables: it is not known which are meant.
  case severalSchemas([String])
  /// The database was copied, and only the copy is used.
  case retired(to: String, at: Timestamp)
  /// The database is a copy that is not complete.
  case unfinishedCopy(of: String)

  public var description: String {
    switch self {
    case .fault(let fault) where fault.kind == .corrupt:
      "the database is damaged: \(fault). To see the damage and what to do: receiptctl db check"
    case .fault(let fault): "the database cannot be used: \(fault)"
    case .missing: "there is no database; start receiptd once, or check `database` in the configuration"
    case .foreign: "the file is a database of another program; check `database` in the configuration"
    case .ofDevelopment:
      "the database is of a development version from before 1.0.0, and its schema is not upgraded; move it "
        + "away (SQLite) or create another one (PostgreSQL), start receiptd, and fetch the latest events "
        + "with: receiptctl events backfill"
    case .newerSchema(let found, let known):
      "the database has schema version \(found), and this program knows versions up to \(known); "
        + "use the version of Receipt Relay that wrote it, or a newer one"
    case .olderSchema(let found, let known):
      "the database has schema version \(found), and this program needs \(known); "
        + "start the receiptd of this version once, it migrates the database"
    case .unsafeSetting(let name):
      "the database did not apply the setting \(name); it would not be durable"
    case .severalSchemas(let names):
      "the database has receiptd's tables in several schemas (\(names.joined(separator: ", "))), and the "
        + "role's search_path leads to all of them; see which of them has the receipts, and leave only that "
        + "one on the path: ALTER ROLE … SET search_path = \(names.last ?? "public")"
    case .retired(let place, let at):
      "the database was copied to \(place) at \(RFC3339.string(unixMilliseconds: at.unixMilliseconds)), and "
        + "is retired so that receipts are not delivered from both; name the copy as `database` in the "
        + "configuration. If the copy is not used: receiptctl db copy --undo"
    case .unfinishedCopy(let place):
      "the database is an unfinished copy of \(place); run the same receiptctl db copy again, which "
        + "continues it, or name \(place) as `database` in the configuration"
    }
  }
}
