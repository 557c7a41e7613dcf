// Text tables for operators. In a pipe they have no colour and are never cut. Pure; any thread.

internal import Platform

/// A table: columns, rows, and a message for an empty table.
public struct Table: Sendable, Equatable {
  /// The side of the column on which a text is aligned.
  public enum Alignment: Sendable {
    case leading, trailing
  }

  /// One column with its layout rules.
  public struct Column: Sendable, Equatable {
    public let title: String
    public let alignment: Alignment
    /// Whether it may be truncated to the terminal's width. Ids are never truncated: operators copy them.
    public let canShrink: Bool
    /// Whether the column may be dropped, the rightmost first, if truncated lines are still too long.
    public let canDrop: Bool

    public init(
      _ title: String, alignment: Alignment = .leading, canShrink: Bool = false, canDrop: Bool = false
    ) {
      self.title = title
      self.alignment = alignment
      self.canShrink = canShrink
      self.canDrop = canDrop
    }
  }

  /// One text and its style. Terminal control characters are removed from the text.
  public struct Cell: Sendable, Equatable, ExpressibleByStringInterpolation {
    public let text: String
    public let style: Style

    public init(_ text: String, _ style: Style = .plain) {
      self.text = DisplayText.clean(text)
      self.style = style
    }

    public init(stringLiteral value: String) { self.init(value) }

    /// A count, with grouped digits.
    public init(count: some BinaryInteger, _ style: Style = .plain) {
      self.init(CountText.grouped(count), style)
    }
  }

  /// A truncated column keeps this many columns of the terminal, or the width of its title.
  private static let shrunkWidthMin = 8
  private static let gap = "  "

  private var columns: [Column]
  /// A sentence that is shown instead of a table without rows.
  public var emptyMessage: String
  private var rows: [[Cell]] = []

  /// - Parameter emptyMessage: a sentence that is shown instead of a table without rows.
  public init(_ columns: [Column], emptyMessage: String) {
    self.columns = columns
    self.emptyMessage = emptyMessage
  }

  public var isEmpty: Bool { rows.isEmpty }

  /// Adds a row: missing cells are blank, extra cells are dropped.
  public mutating func add(_ cells: [Cell]) {
    let blank = max(0, columns.count - cells.count)
    rows.append(Array(cells.prefix(columns.count)) + Array(repeating: Cell(""), count: blank))
  }

  /// The table as lines, each with its newline.
  /// - Parameters:
  ///   - inColour: whether styles are shown.
  ///   - terminalColumns: the terminal's width; nil in a pipe, where nothing is truncated.
  public func text(inColour: Bool = false, terminalColumns: Int? = nil) -> String {
    guard !rows.isEmpty else { return DisplayText.clean(emptyMessage) + "\n" }
    let widths = widths(fitting: terminalColumns)
    if let terminalColumns, width(of: widths) > terminalColumns,
      let last = columns.lastIndex(where: \.canDrop)
    {
      return without(column: last).text(inColour: inColour, terminalColumns: terminalColumns)
    }
    let header = columns.map { Cell($0.title, .bold) }
    return ([header] + rows).map { line($0, widths, inColour) + "\n" }.joined()
  }

  /// The titles of the columns that `text` drops, from left to right.
  public func dropped(terminalColumns: Int?) -> [String] {
    guard let terminalColumns, !rows.isEmpty, width(of: widths(fitting: terminalColumns)) > terminalColumns,
      let last = columns.lastIndex(where: \.canDrop)
    else { return [] }
    return without(column: last).dropped(terminalColumns: terminalColumns) + [columns[last].title]
  }

  private func without(column index: Int) -> Table {
    var table = self
    table.columns.remove(at: index)
    for row in table.rows.indices { table.rows[row].remove(at: index) }
    return table
  }

  private func width(of widths: [Int]) -> Int {
    widths.reduce(Self.gap.count * (columns.count - 1), +)
  }

  private func line(_ cells: [Cell], _ widths: [Int], _ inColour: Bool) -> String {
    var line = ""
    for (index, cell) in cells.enumerated() {
      let text = DisplayText.truncated(cell.text, to: widths[index])
      let padding = String(repeating: " ", count: max(0, widths[index] - DisplayText.width(of: text)))
      let styled = cell.style.applied(to: text, inColour: inColour)
      if index > 0 { line += Self.gap }
      line += columns[index].alignment == .leading ? styled + padding : padding + styled
    }
    // Trailing spaces would wrap on a terminal that is slightly too narrow.
    while line.last == " " { line.removeLast() }
    return line
  }

  /// The natural widths, reduced to fit: the widest column that may shrink is reduced first.
  private func widths(fitting terminalColumns: Int?) -> [Int] {
    var widths = columns.indices.map { index in
      rows.map { DisplayText.width(of: $0[index].text) }
        .reduce(DisplayText.width(of: columns[index].title), max)
    }
    guard let terminalColumns else { return widths }
    while true {
      let total = width(of: widths)
      guard total > terminalColumns else { return widths }
      let shrinkable = columns.indices.filter { columns[$0].canShrink && widths[$0] > shrunkMin($0) }
      guard let widest = shrinkable.max(by: { widths[$0] < widths[$1] }) else { return widths }
      let runnerUp = shrinkable.filter { $0 != widest }.map { widths[$0] }.max() ?? 0
      let target = max(widths[widest] - (total - terminalColumns), min(runnerUp, widths[widest] - 1))
      widths[widest] = max(target, shrunkMin(widest))
    }
  }

  private func shrunkMin(_ index: Int) -> Int {
    max(Self.shrunkWidthMin, DisplayText.width(of: columns[index].title))
  }
}
