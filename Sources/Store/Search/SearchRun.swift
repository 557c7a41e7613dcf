// The sorted parts of the index of a search. Values.

public import Domain

/// What the rows of a run are.
public enum SearchFamily: Int64, Sendable, CaseIterable {
  /// Rows of `events`, found by what their bodies name.
  case events = 0
  /// Rows of `purchases` that the relay started, found by the merchant's reference.
  case payments = 1
}

/// A part of the index: entries of some rows, sorted, in blocks.
public struct SearchRun: Sendable, Equatable {
  /// The life of a run. A run that is not ready is never read by a search.
  public enum State: String, Sendable {
    case building, ready, dropped
  }

  public var number: Int64
  public var family: SearchFamily
  /// 0 for a run that was made from rows, 1 for one that was made from such runs.
  public var level: Int64
  public var firstRow: Int64
  public var lastRow: Int64
  public var state: State
  /// When it was made, or rewritten without the entries of deleted rows.
  public var madeAt: Timestamp
}

/// What a new run is made of, read and sorted before it is written.
public struct SearchDraft: Sendable, Equatable {
  public var family: SearchFamily
  public var level: Int64
  public var firstRow: Int64
  public var lastRow: Int64
  public var blocks: [SearchBlock]
  /// The runs that it replaces.
  public var replaced: [Int64]
  /// How many erasures the index had when the draft was read: an erasure since then makes it void.
  public var erasures: Int64
}
