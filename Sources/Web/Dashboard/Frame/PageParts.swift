// HTML elements that several pages share. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Platform
internal import Reports

enum PageParts {
  /// Untrusted text, isolated because it may be right-to-left.
  static func untrusted(_ text: String) -> HTML { Tag.bdi { text } }

  static func untrusted(_ id: some TextID) -> HTML { untrusted(id.text) }

  /// An id, in a font that distinguishes O from 0.
  static func identifier(_ text: String) -> HTML { Tag.code { Tag.bdi { text } } }

  static func identifier(_ id: some TextID) -> HTML { identifier(id.text) }

  /// The same shortened in the middle; a browser copies it whole, and shows it on hover.
  static func short(_ text: String) -> HTML {
    guard text.utf8.count > 18 else { return identifier(text) }
    return Tag.code(.class("short"), .title(text)) {
      Tag.bdi {
        Tag.span { String(text.dropLast(6)) }
        String(text.suffix(6))
      }
    }
  }

  /// A relative time, with the exact one as its title.
  static func time(_ time: Timestamp?, now: Timestamp) -> HTML {
    guard let time else { return Tag.span(.class("none")) { "–" } }
    return Tag.time(.datetime(time.rfc3339), .title(time.rfc3339)) { time.relative(to: now) }
  }

  /// A fact in a list of facts.
  static func fact(_ name: String, _ value: HTML) -> HTML {
    Tag.div {
      Tag.dt { name }
      Tag.dd { value }
    }
  }

  /// The exact time, and how long ago that is.
  static func exact(_ time: Timestamp, now: Timestamp) -> HTML {
    HTML {
      Tag.time(.datetime(time.rfc3339)) { time.rfc3339.replacing("T", with: " ").dropLast(1).description }
      Tag.span(.class("none")) { " (\(time.relative(to: now)))" }
    }
  }

  /// A state with its reason. The colour only repeats the text.
  static func badge(_ state: String, _ tone: Tone, _ reason: String? = nil) -> HTML {
    let kind =
      switch tone {
      case .plain: ""
      case .good: "delivered"
      case .bad: "failed"
      case .pending: "pending"
      case .waiting: "waiting"
      case .ended: "cancelled"
      }
    return HTML {
      Tag.span(.class("badge \(kind)")) { state }
      if let reason, !reason.isEmpty {
        " "
        Tag.span(.class("reason")) { PageParts.untrusted(reason) }
      }
    }
  }

  /// A highlighted message.
  static func notice(_ kind: String, @HTMLBuilder _ content: () -> HTML) -> HTML {
    Tag.div(.class("notice \(kind)"), .role("status"), content: content)
  }

  static func number(_ number: Int64) -> String { CountText.grouped(number) }

  static func counted(_ count: Int64, _ one: String) -> String { CountText.of(count, one) }
}

/// A table that narrow screens show row by row. It has explicit roles, because CSS display properties remove
/// the implicit ones (https://adrianroselli.com/2018/02/tables-css-display-properties-and-aria.html).
struct DataTable {
  struct Column {
    var name: String
    var isNumber: Bool
    /// Whether its texts are untrusted and may be long.
    var isLong: Bool

    init(_ name: String, isNumber: Bool = false, isLong: Bool = false) {
      self.name = name
      self.isNumber = isNumber
      self.isLong = isLong
    }
  }

  /// Its class.
  var name: String?
  let caption: String
  let columns: [Column]
  /// Each row has a cell for every column; the first cell is the row's header.
  var rows: [[HTML]] = []

  init(_ caption: String, _ columns: [Column]) {
    self.caption = caption
    self.columns = columns
  }

  var html: HTML {
    Tag.table([.role("table")] + (name.map { [.class($0)] } ?? [])) {
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
