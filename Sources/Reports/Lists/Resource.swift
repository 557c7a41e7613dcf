// Lists, each declared once: receiptctl makes its table, `--json` and `--csv` from it, the dashboard its page
// and its exports. The lists are the other files of this folder, one each. Pure; called from any thread.

public import Domain
public import Formats

/// A list: what its entries consist of, and which face shows what of them.
public struct Resource<Row>: Sendable {
  /// The path of its page, and the name of its exported files: `receipts`.
  public let path: String
  /// The word for one entry; its plural ends in s.
  public let one: String
  /// The page of an empty list.
  public let emptyPage: String
  /// The table of an empty list.
  public let emptyTable: String
  /// In the order of JSON and CSV. Scripts rely on the names and on the order.
  public let fields: [ListField<Row>]
  /// The columns of receiptctl's table, in their order.
  public let table: [ListField<Row>]
  /// The columns of the dashboard's table, in their order.
  public let page: [ListField<Row>]

  /// - Parameters:
  ///   - table: the names of the fields that receiptctl's table shows, each of which has a title.
  ///   - page: the same for the dashboard.
  public init(
    _ path: String, one: String, emptyPage: String = "", emptyTable: String? = nil,
    _ fields: [ListField<Row>], table: [String], page: [String] = []
  ) {
    (self.path, self.one, self.emptyPage) = (path, one, emptyPage)
    self.emptyTable = emptyTable ?? "No \(one)s."
    self.fields = fields
    func columns(_ names: [String]) -> [ListField<Row>] {
      let columns = names.compactMap { name in fields.first { $0.name == name && !$0.title.isEmpty } }
      assert(columns.count == names.count, "a column of \(path) is not declared, or has no title")
      return columns
    }
    (self.table, self.page) = (columns(table), columns(page))
  }

  /// The title of its page.
  public var title: String { path.capitalizedFirst }

  /// The processors that a table names only if there are several.
  public func processors(of rows: [Row]) -> [ProcessorName] {
    table.filter { $0.layout.contains(.ifSeveral) }.flatMap { field in
      rows.compactMap { field.value?($0).stringValue }.map(ProcessorName.init)
    }
  }

  // MARK: For other programs

  /// An entry as the members of a JSON object.
  public func members(of row: Row) -> [JSONValue.Member] {
    fields.compactMap { field in field.value.map { JSONValue.Member(name: field.name, value: $0(row)) } }
  }

  /// An entry as a JSON object.
  public func object(of row: Row) -> JSONValue { .object(members(of: row)) }

  /// The JSON Schema of an entry as a JSON object. It may have further members.
  public var schema: JSONValue {
    let described = fields.filter { $0.value != nil }
    return [
      "type": "object", "required": .array(described.map { .string($0.name) }),
      "properties": .object(described.map { JSONValue.Member(name: $0.name, value: $0.schema) }),
    ]
  }

  /// The names of the columns as the first record of CSV.
  public var csvHeader: String { CSV.record(fields.filter { $0.value != nil }.map { .plain($0.name) }) }

  /// An entry as a record of CSV.
  public func csv(of row: Row) -> String { CSV.record(members(of: row)) }
}

extension CSV {
  /// The values of an object as a record. A missing value is empty; a list and an object are JSON.
  public static func record(_ members: [JSONValue.Member]) -> String {
    record(
      members.map { member -> Field in
        switch member.value {
        case .null: .plain("")
        case .string(let text): .text(text)
        case let value: .plain(value.text)
        }
      })
  }
}

/// One field of a list's entries: its value for other programs, and how people see it.
public struct ListField<Row>: Sendable {
  /// The member of JSON and the column of CSV.
  public let name: String
  /// Nil if only people see it.
  let value: (@Sendable (Row) -> JSONValue)?
  private let kind: Kind
  /// What people see; nil without a value.
  public private(set) var cell: @Sendable (Row) -> ListCell?
  /// The title of its column on a page; empty if only other programs see it.
  public private(set) var title = ""
  /// The title of its column in receiptctl's table.
  public private(set) var heading = ""
  public private(set) var layout: ListLayout = []
  /// What a page shows without a value.
  public private(set) var missing = "–"

  /// What its values are for other programs.
  private enum Kind {
    case text, flag, number, time, any
  }

  /// The JSON Schema of the value.
  var schema: JSONValue {
    switch kind {
    case .text: ["type": ["string", "null"]]
    case .flag: ["type": "boolean"]
    case .number: ["type": ["integer", "null"]]
    case .time: ["type": ["string", "null"], "format": "date-time"]
    case .any: [:]
    }
  }

  private init(
    _ name: String, _ kind: Kind, layout: ListLayout = [],
    _ value: (@Sendable (Row) -> JSONValue)?, cell: @escaping @Sendable (Row) -> ListCell? = { _ in nil }
  ) {
    (self.name, self.kind, self.value, self.cell, self.layout) = (name, kind, value, cell, layout)
  }

  /// Shows the field to people, too.
  /// - Parameters:
  ///   - heading: of receiptctl's table; the title in capitals without it.
  ///   - missing: what a page shows without a value.
  ///   - cell: if people see something else than other programs.
  public func titled(
    _ title: String, heading: String? = nil, _ layout: ListLayout = [], missing: String = "–",
    _ cell: (@Sendable (Row) -> ListCell?)? = nil
  ) -> ListField {
    var field = self
    (field.title, field.heading, field.missing) = (title, heading ?? title.uppercased(), missing)
    field.layout.formUnion(layout)
    if let cell { field.cell = cell }
    return field
  }

  /// A field that is not for other programs; `titled` says what people see.
  public static func shown(_ name: String) -> ListField { ListField(name, .any, nil) }

  public static func json(_ name: String, _ value: @escaping @Sendable (Row) -> JSONValue) -> ListField {
    ListField(name, .any, value)
  }

  public static func text(_ name: String, _ text: @escaping @Sendable (Row) -> String?) -> ListField {
    ListField(name, .text) {
      .optional(text($0))
    } cell: {
      text($0).map { .text($0) }
    }
  }

  public static func flag(_ name: String, _ flag: @escaping @Sendable (Row) -> Bool) -> ListField {
    ListField(name, .flag) {
      .bool(flag($0))
    } cell: {
      .text(flag($0) ? "yes" : "no")
    }
  }

  /// A count.
  public static func number(_ name: String, _ number: @escaping @Sendable (Row) -> Int64?) -> ListField {
    ListField(name, .number, layout: .number) {
      .optional(number($0))
    } cell: {
      number($0).map { .count($0) }
    }
  }

  public static func time(_ name: String, _ time: @escaping @Sendable (Row) -> Timestamp?) -> ListField {
    ListField(name, .time) {
      .optional(time($0)?.rfc3339)
    } cell: {
      time($0).map { .time($0) }
    }
  }

  /// An id, which leads to its page.
  public static func id(_ name: String, _ id: @escaping @Sendable (Row) -> NamedID?) -> ListField {
    ListField(name, .text) {
      .optional(id($0)?.text)
    } cell: {
      id($0).map { .id($0) }
    }
  }

  /// An app, which leads to its page.
  public static func app(_ app: @escaping @Sendable (Row) -> AppSlug?) -> ListField {
    ListField("app", .text) {
      .optional(app($0)?.text)
    } cell: {
      app($0).map { .app($0) }
    }
  }
}

// MARK: - JSONTime

// Timestamps in JSON. Pure; called from any thread.

extension JSONValue {
  /// RFC 3339, in UTC, with milliseconds; or null.
  public static func time(_ timestamp: Timestamp?) -> JSONValue { .optional(timestamp?.rfc3339) }
}
