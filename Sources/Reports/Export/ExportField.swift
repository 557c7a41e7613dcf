// The columns of lists for other programs, each declared once: the members of JSON and the columns of CSV, of
// receiptctl and of the dashboard. Scripts rely on their names and their order. Pure; called from any thread.

public import Domain
public import Formats

/// One column of a list.
public struct ExportField<Entry>: Sendable {
  public let name: String
  let value: @Sendable (Entry) -> JSONValue

  public init(_ name: String, _ value: @escaping @Sendable (Entry) -> JSONValue) {
    self.name = name
    self.value = value
  }

  /// - Parameter text: nil is null.
  public static func text(_ name: String, _ text: @escaping @Sendable (Entry) -> String?) -> ExportField {
    ExportField(name) { .optional(text($0)) }
  }

  /// - Parameter number: nil is null.
  public static func number(_ name: String, _ number: @escaping @Sendable (Entry) -> Int64?) -> ExportField {
    ExportField(name) { .optional(number($0)) }
  }
}

/// The columns of a list, in their order.
public struct ExportFields<Entry>: Sendable, ExpressibleByArrayLiteral {
  private let fields: [ExportField<Entry>]

  public init(_ fields: [ExportField<Entry>]) { self.fields = fields }

  public init(arrayLiteral fields: ExportField<Entry>...) { self.fields = fields }

  /// An entry as the members of a JSON object.
  public func members(of entry: Entry) -> [JSONValue.Member] {
    fields.map { JSONValue.Member(name: $0.name, value: $0.value(entry)) }
  }

  /// An entry as a JSON object.
  public func object(of entry: Entry) -> JSONValue { .object(members(of: entry)) }

  /// The names of the columns as the first record of CSV.
  public var csvHeader: String { CSV.record(fields.map { .plain($0.name) }) }

  /// An entry as a record of CSV. A missing value is empty; a list is JSON.
  public func csv(of entry: Entry) -> String {
    CSV.record(
      fields.map { field -> CSV.Field in
        switch field.value(entry) {
        case .null: .plain("")
        case .string(let text): .text(text)
        case let value: .plain(value.text)
        }
      })
  }
}

// MARK: - JSONTime

// Timestamps in JSON. Pure; called from any thread.

extension JSONValue {
  /// RFC 3339, in UTC, with milliseconds.
  public static func time(_ timestamp: Timestamp) -> JSONValue { .string(timestamp.rfc3339) }
}
