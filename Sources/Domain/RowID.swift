// Row numbers of the database as types: the compiler keeps a job's row from being used as a purchase's. Pure;
// any thread.

/// The number of a row. Numbers grow with time; only those of purchases are never reused (`CountRows`).
public protocol RowID: Sendable, Hashable, Comparable, CustomStringConvertible, ExpressibleByIntegerLiteral {
  var number: Int64 { get }

  init(_ number: Int64)
}

extension RowID {
  public init(integerLiteral number: Int64) { self.init(number) }

  public var description: String { String(number) }

  public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// A row of `purchases`.
public struct PurchaseRowID: RowID {
  public let number: Int64
  public init(_ number: Int64) { self.number = number }
}

/// A row of `jobs`.
public struct JobRowID: RowID {
  public let number: Int64
  public init(_ number: Int64) { self.number = number }
}

/// A row of `captures`.
public struct CaptureRowID: RowID {
  public let number: Int64
  public init(_ number: Int64) { self.number = number }
}

/// A row of `events`.
public struct EventRowID: RowID {
  public let number: Int64
  public init(_ number: Int64) { self.number = number }
}
