// Writes the text of a statement and collects its values, for `SQLTranslation`. Pure.

internal import Store

/// Writes a statement for the values of one row or of several.
struct SQLWriter {
  private(set) var values: [PostgresValue] = []
  var sql = ""
  private let given: Given
  /// The places of the values that were used, by their numbers in the store's statement.
  private var places: [Int: Int] = [:]

  private enum Given {
    case row([StoreValue])
    case rows([[StoreValue]])
  }

  init(given row: [StoreValue]) { given = .row(row) }
  init(given rows: [[StoreValue]]) { given = .rows(rows) }

  /// Writes on, but not into the text so far.
  init(continuing writer: SQLWriter) {
    self = writer
    sql = ""
  }

  /// The arrays of the values that were used, as a table.
  var givenRows: String {
    let numbers = values.indices.map { $0 + 1 }
    return "unnest(\(numbers.map { "$\($0)" }.joined(separator: ", "))) AS "
      + "given(\(numbers.map { "value_\($0)" }.joined(separator: ", ")))"
  }

  mutating func add(_ parts: [SQLTranslation.Part]) {
    for part in parts {
      switch part {
      case .text(let text): sql += text
      case .value(let index): sql += isNull(index) == true ? "NULL" : place(of: index)
      case .isValue(let index, let isNegated):
        switch isNull(index) {
        case true: sql += isNegated ? "IS NOT NULL" : "IS NULL"
        case false where !isNegated: sql += "= " + place(of: index)
        default: sql += (isNegated ? "IS DISTINCT FROM " : "IS NOT DISTINCT FROM ") + place(of: index)
        }
      }
    }
  }

  /// Whether a value is NULL; nil if it is in some rows.
  private func isNull(_ index: Int) -> Bool? {
    switch given {
    case .row(let row): return row[index] == .null
    case .rows(let rows):
      let isFirst = rows[0][index] == .null
      return rows.allSatisfy { ($0[index] == .null) == isFirst } ? isFirst : nil
    }
  }

  private mutating func place(of index: Int) -> String {
    let number = places[index] ?? values.count + 1
    if places[index] == nil {
      places[index] = number
      values.append(value(index))
    }
    return if case .row = given { "$\(number)" } else { "given.value_\(number)" }
  }

  private func value(_ index: Int) -> PostgresValue {
    switch given {
    case .row(let row): return PostgresValue(row[index])
    case .rows(let rows):
      let values = rows.map { PostgresValue($0[index]) }
      return .array(of: values.lazy.compactMap(\.element).first ?? .text, values)
    }
  }
}
