// The database engines, for reading: whether or not another process serves the database. Any thread.

public import Config
internal import Domain
internal import PostgresStore
internal import Reports
internal import SQLiteStore
public import Store

/// The engine of the configured database.
public enum Engines {
  /// The name in a server's views.
  public static let application = "receiptd"

  /// Opens the configured database for reading.
  /// - Throws: `StoreError` if it does not exist, cannot be reached or has another schema.
  public static func reader(of configuration: Configuration) throws(StoreError) -> StoreReader {
    switch configuration.database {
    case .file(let path): return try StoreReader(path: path)
    case .postgres(let url):
      let text: String
      do throws(Fault) {
        text = try url.reveal()
      } catch {
        throw .fault(StoreFault(.notPermitted, operation: "connect", reason: error.message))
      }
      return try PostgresEngine(text, isOwner: false, application: application, allowsUnsafe: true)
        .openReader()
    }
  }
}

extension Configuration {
  /// Warnings about apps with open receipts that are not in this configuration. Empty if the database does
  /// not exist, cannot be read, or has another schema; but a server that refuses its URL is a warning.
  public var databaseWarnings: [Fault] {
    let reader: StoreReader
    do throws(StoreError) {
      reader = try Engines.reader(of: self)
    } catch {
      guard database.filePath == nil, case .fault(let fault) = error else { return [] }
      return [Fault(path: "database", message: "cannot be used now: \(fault)")]
    }
    // Best effort, as documented above.
    guard let counts = try? reader.counts() else { return [] }
    return UnconfiguredApp.all(counts, configured: apps.map(\.slug)).map {
      Fault(path: "apps.\($0.slug)", message: "\($0.sentence). \($0.advice)")
    }
  }
}
