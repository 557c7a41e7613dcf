// Stores copied rows with what an engine needs besides. One thread.

internal import Domain

/// Stores rows of a table in the target.
struct CopyWriting {
  private let target: any CopyEngine
  private let inserting: StoreStatement
  private let columns: [String: Int]
  private let table: String

  init(_ table: CopyTable, _ columns: [CopyColumn], to target: any CopyEngine) throws(StoreFault) {
    self.table = table.name
    self.target = target
    self.columns = Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1.name, $0) })
    inserting = try target.writing.prepare(
      """
      INSERT INTO \(table.name) (\(columns.map(\.name).joined(separator: ", ")))
      VALUES (\(columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")))
      """)
  }

  /// In the open transaction.
  func insert(_ rows: [[StoreValue]]) throws(StoreFault) {
    var apps: Set<String> = []
    for row in rows {
      try inserting.run(row)
      if let app = text("app", row) { apps.insert(app) }
      guard target.addsKeys, let number = integer("row_id", row) else { continue }
      for key in keys(row) { try target.writing.engine.keys.add(key, row: number) }
    }
    if !apps.isEmpty { try target.add(apps: apps) }
  }

  private func keys(_ row: [StoreValue]) -> [RowKey] {
    guard let app = text("app", row) else { return [] }
    switch table {
    case "purchases":
      return RowKey.keys(
        app: .init(app), object: .init(text("object_id", row) ?? ""),
        session: text("session_id", row).map { .init($0) },
        customer: text("customer_id", row).map { .init($0) },
        users: NamesColumn.users(text("user_id", row).map { .init($0) }, others: text("other_names", row)))
    case "contexts":
      guard let place = columns["digest"], case .blob(let digest) = row[place] else { return [] }
      return RowKey.keys(app: .init(app), contextOf: .init(text("user_id", row) ?? ""), digest: digest)
    default: return []
    }
  }

  /// As the target stores it.
  private func text(_ column: String, _ row: [StoreValue]) -> String? {
    guard let place = columns[column], case .text(let text) = row[place] else { return nil }
    return target.storesZero ? text : StoredText.withoutZero(text)
  }

  private func integer(_ column: String, _ row: [StoreValue]) -> Int64? {
    guard let place = columns[column], case .integer(let number) = row[place] else { return nil }
    return number
  }
}
