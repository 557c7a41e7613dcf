// Finding purchases by ids that are spread at random: an engine may keep these outside the tables' indexes,
// because an index of random values dirties a page for each. One thread at a time uses a connection's index.

internal import Cryptography
public import Domain

/// An id by which purchases are found.
public struct RowKey: Sendable, Hashable {
  /// The kind of id.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// The checkout that sold the purchase, if that has another id.
    case session = 1
    case customer = 2
    case user = 3
  }

  public var kind: Kind
  public var app: AppSlug
  public var value: String

  public init(_ kind: Kind, _ value: some TextID, app: AppSlug) {
    self.kind = kind
    self.app = app
    self.value = value.text
  }

  /// Stands for the key in an engine's index. Different keys may have the same number, so a row that is found
  /// by it must be compared with the key. Nobody can choose ids whose numbers are equal, because the number
  /// is a part of a SHA-256 digest.
  public var number: Int64 { Self.first(kind, value) | Int64(Self.number(of: app)) }

  /// The numbers of a value in all apps: this one and the following `appsMax`.
  public static func numbers(_ kind: Kind, _ value: some TextID) -> ClosedRange<Int64> {
    let first = first(kind, value.text)
    return first...(first | Int64(UInt16.max))
  }

  /// The first 48 bits of the digest; the others are 0.
  private static func first(_ kind: Kind, _ value: String) -> Int64 {
    let digest = SHA256.digest([kind.rawValue] + value.utf8)
    var bits: UInt64 = 0
    for byte in digest.prefix(6) { bits = bits << 8 | UInt64(byte) }
    return Int64(bitPattern: bits << 16)
  }

  /// FNV-1a, folded to 16 bits (RFC draft-eastlake-fnv): an app's name is the operator's choice.
  private static func number(of app: AppSlug) -> UInt16 {
    var hash: UInt32 = 0x811C_9DC5
    for byte in app.text.utf8 { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
    return UInt16(truncatingIfNeeded: hash >> 16 ^ hash)
  }
}

/// Finds the rows of `purchases` by their keys.
public protocol KeyIndex: AnyObject {
  /// Adds a row to those of a key, in the open transaction.
  func add(_ key: RowKey, row: PurchaseRowID) throws(StoreFault)
  /// Removes a row from those of a key, in the open transaction. Until the engine has done that, the row may
  /// still be found.
  func remove(_ key: RowKey, row: PurchaseRowID) throws(StoreFault)
  /// The same, and no trace of the key is left after the transaction.
  func erase(_ key: RowKey, row: PurchaseRowID) throws(StoreFault)
  /// The rows that may have a key, newest first. The caller compares each with the key: others may be among
  /// them.
  func rows(_ key: RowKey, limit: Int) throws(StoreFault) -> [PurchaseRowID]
  /// A SELECT of the rows that may have a key whose number is in a range, for use in other statements.
  /// - Parameters:
  ///   - lower: the parameter for the range's lower bound, such as `?1`.
  ///   - upper: the parameter for its upper bound.
  func selection(_ lower: String, _ upper: String) -> String
}
