// What people see of a list: how its columns are laid out, and the kinds of its cells. Each face draws them
// in its way. Values.

public import Domain

/// How a column is laid out.
public struct ListLayout: OptionSet, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Aligned as numbers are.
  public static let number = ListLayout(rawValue: 1)
  /// A narrow page wraps it within a word.
  public static let wraps = ListLayout(rawValue: 2)
  /// A narrow terminal truncates it. Ids are never truncated: operators copy them.
  public static let shrinks = ListLayout(rawValue: 4)
  /// A narrow terminal leaves it out, the rightmost such column first.
  public static let drops = ListLayout(rawValue: 8)
  /// Only if the apps have several processors.
  public static let ifSeveral = ListLayout(rawValue: 16)
  /// A text that may be long.
  public static let long: ListLayout = [.wraps, .shrinks]
}

/// What people see in one cell of a list. Not sanitized.
public enum ListCell: Sendable {
  /// - Parameter tone: in receiptctl's table.
  case text(String, Tone = .plain)
  case id(NamedID)
  /// An id of something that has no page.
  case identifier(String)
  case app(AppSlug)
  case count(Int64)
  case time(Timestamp)
  /// A time that a page shows exactly.
  case moment(Timestamp)
  case duration(Duration)
  /// A state.
  /// - Parameter reason: shown beside it on a page.
  case state(String, Tone, reason: String? = nil)
}

/// The emphasis of a state. It only repeats what the text says.
public enum Tone: Sendable {
  case plain, good, bad, pending, waiting, ended
}
