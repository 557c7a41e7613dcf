// Tables of text, for people: the same in a pipe as on a terminal, there without colour and never cut. Pure;
// any thread.

internal import Platform

/// A table: columns, rows, and what is said instead when there is none.
public struct Table: Sendable, Equatable {
  /// On which side of its column a text stands.
  public enum Alignment: Sendable {
    case leading, trailing
  }

  /// One column.
  public struct Column: Sendable, Equatable {
    public let title: String
    public let alignment: Alignment
    /// Whether the terminal's width may cut it. Ids are never cut: people copy them.
    public let canShrink: Bool
    /// Whether it is left out, the rightmost first, where even cutting leaves lines too long.
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

  /// One text and how it stands out. Whatever a terminal would obey is taken out of the text.
  public struct Cell: Sendable, Equatable, ExpressibleByStringInterpolation {
    public let text: String
    public let style: Style

    public init(_ text: String, _ style: Style = .plain) {
      self.text = DisplayText.clean(text)
      self.style = style
    }

    public init(stringLiteral value: String) { self.init(value) }

    /// A count, its digits in groups.
    public init(count: some BinaryInteger, _ style: Style = .plain) {
      self.init(CountText.grouped(count), style)
    }
  }

  /// A cut column keeps so many columns of the terminal, or its title.
  private static let shrunkWidthMin = 8
  private static let gap = "  "

  private var columns: [Column]
  private let emptyMessage: String
  private var rows: [[Cell]] = []

  /// - Parameter emptyMessage: a sentence that is shown in place of a table without rows.
  public init(_ columns: [Column], emptyMessage: String) {
    self.columns = columns
    self.emptyMessage = emptyMessage
  }

  public var isEmpty: Bool { rows.isEmpty }

  /// Adds a row: missing cells stay blank, those beyond the last column are left out.
  public mutating func add(_ cells: [Cell]) {
    let blank = max(0, columns.count - cells.count)
    rows.append(Array(cells.prefix(columns.count)) + Array(repeating: Cell(""), count: blank))
  }

  /// The table as lines, each with its newline.
  /// - Parameters:
  ///   - inColour: whether styles are shown.
  ///   - terminalColumns: the width to fit into; nil in a pipe, where nothing is cut.
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
    // A line that ends in blanks would wrap on a terminal that is just too narrow.
    while line.last == " " { line.removeLast() }
    return line
  }

  /// The natural widths, less what does not fit: the widest column that may shrink gives way first.
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
