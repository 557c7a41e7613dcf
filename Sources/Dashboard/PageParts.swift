// What pages are put together from. Pure; any thread.

internal import Domain
internal import HTML
internal import Platform
internal import Presentation

/// The parts.
enum PageParts {
  /// A text from outside, of whatever direction.
  static func outside(_ text: String) -> HTML { Tag.bdi { text } }

  /// An id, in letters that tell O from 0.
  static func identifier(_ text: String) -> HTML { Tag.code { Tag.bdi { text } } }

  /// A time as people say it, with the exact one behind it.
  static func time(_ time: Timestamp?, now: Timestamp) -> HTML {
    guard let time else { return Tag.span(.class("none")) { "–" } }
    return Tag.time(.datetime(time.rfc3339), .title(time.rfc3339)) { time.relative(to: now) }
  }

  /// A state with its reason. The word says it; the colour only repeats it.
  static func badge(_ state: ReceiptState, _ reason: String? = nil) -> HTML {
    HTML {
      Tag.span(.class("badge \(state.rawValue)")) { state.rawValue }
      if let reason, !reason.isEmpty {
        " "
        Tag.span(.class("reason")) { PageParts.outside(reason) }
      }
    }
  }

  /// A message that stands out.
  static func notice(_ kind: String, @HTMLBuilder _ content: () -> HTML) -> HTML {
    Tag.div(.class("notice \(kind)"), .role("status"), content: content)
  }

  static func number(_ number: Int64) -> String { CountText.grouped(number) }

  static func counted(_ count: Int64, _ one: String) -> String { CountText.of(count, one) }
}

/// A table that a phone shows row by row. Roles are said: what is laid out otherwise loses its own
/// (https://adrianroselli.com/2018/02/tables-css-display-properties-and-aria.html).
struct DataTable {
  struct Column {
    var name: String
    var isNumber: Bool
    /// Whether its texts come from outside and may be long.
    var isLong: Bool

    init(_ name: String, isNumber: Bool = false, isLong: Bool = false) {
      self.name = name
      self.isNumber = isNumber
      self.isLong = isLong
    }
  }

  let caption: String
  let columns: [Column]
  /// Each with a cell for every column; the first is the row's own name.
  var rows: [[HTML]] = []

  init(_ caption: String, _ columns: [Column]) {
    self.caption = caption
    self.columns = columns
  }

  var html: HTML {
    Tag.table(.role("table")) {
      Tag.caption { caption }
      Tag.thead(.role("rowgroup")) {
        Tag.tr(.role("row")) {
          for column in columns {
            Tag.th([.role("columnheader"), .scope("col")] + style(column)) { column.name }
          }
        }
      }
      Tag.tbody(.role("rowgroup")) {
        for row in rows { Tag.tr(.role("row")) { cells(row) } }
      }
    }
  }

  private func cells(_ row: [HTML]) -> [HTML] {
    zip(columns, row).enumerated().map { index, cell in
      let (column, content) = cell
      let label = Attribute("data-label", column.name)
      if index == 0 { return Tag.th([.role("rowheader"), .scope("row"), label] + style(column)) { content } }
      return Tag.td([.role("cell"), label] + style(column)) { content }
    }
  }

  private func style(_ column: Column) -> [Attribute] {
    column.isNumber ? [.class("number")] : column.isLong ? [.class("long")] : []
  }
}
