// Finding rows by ids that are spread at random: an engine may keep these outside the tables' indexes,
// because an index of random values dirties a page for each. One thread at a time uses a connection's index.

internal import Cryptography
public import Domain

/// An id by which rows are found, as the number that stands for it in an engine's index.
///
/// Different ids may have the same number, so a row that is found by it must be compared with the id. The
/// number is a part of a SHA-256 digest: an id with the number of a given one takes 2^48 trials.
public struct RowKey: Sendable, Hashable {
  /// The kind of id. The numbers are stored, so they never change.
  public enum Kind: UInt8, Sendable, CaseIterable {
    /// The checkout that sold a purchase, if that has another id.
    case session = 1
    /// A purchase's customer.
    case customer = 2
    /// A purchase's user.
    case user = 3
    /// A context's user.
    case contextUser = 4
    /// A context's user and blob.
    case contextBlob = 5
  }

  public let kind: Kind
  /// 48 bits that stand for the id, and 16 for the app: what one id has in several apps is neighbours.
  public let number: Int64

  public init(_ kind: Kind, _ value: some TextID, app: AppSlug) {
    self.kind = kind
    number = Self.first(kind, value.text) | Int64(Self.number(of: app))
  }

  /// The key of a user's context.
  /// - Parameter digest: of its blob.
  public init(contextOf user: UserID, digest: [UInt8], app: AppSlug) {
    kind = .contextBlob
    // The digest has a fixed size, so no other pair makes the same bytes.
    number = Self.first(kind, user.text, after: digest) | Int64(Self.number(of: app))
  }

  /// Rows as a JSON array for `json_each` in statements.
  static func list(_ rows: [Int64]) -> StoreValue {
    .text("[\(rows.map { String($0) }.joined(separator: ","))]")
  }

  /// The numbers of an id in all apps.
  public static func numbers(_ kind: Kind, _ value: some TextID) -> ClosedRange<Int64> {
    let first = first(kind, value.text)
    return first...(first | Int64(UInt16.max))
  }

  /// The first 48 bits of the digest; the others are 0.
  private static func first(_ kind: Kind, _ value: String, after start: [UInt8] = []) -> Int64 {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(1 + start.count + value.utf8.count)
    bytes.append(kind.rawValue)
    bytes += start
    bytes += value.utf8
    return Int64(bitPattern: SHA256.prefix(bytes.span) & ~UInt64(UInt16.max))
  }

  /// FNV-1a, folded to 16 bits (RFC draft-eastlake-fnv): an app's name is the operator's choice.
  private static func number(of app: AppSlug) -> UInt16 {
    var hash: UInt32 = 0x811C_9DC5
    for byte in app.text.utf8 { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
    return UInt16(truncatingIfNeeded: hash >> 16 ^ hash)
  }
}

/// Finds rows by their keys. A kind of key belongs to one table, whose row ids these are.
public protocol KeyIndex: AnyObject {
  /// Adds a row to those of a key, in the open transaction.
  func add(_ key: RowKey, row: Int64) throws(StoreFault)
  /// Removes a row from those of a key, in the open transaction. Until the engine has done that, the row may
  /// still be found.
  func remove(_ key: RowKey, row: Int64) throws(StoreFault)
  /// The same, and no table has the key any more after the transaction.
  func erase(_ key: RowKey, row: Int64) throws(StoreFault)
  /// The rows that may have a key, largest first; of more than `limit` the newest. The caller compares each
  /// with the id: others may be among them. Must not be called while another statement of the connection
  /// reads rows outside a transaction: that reads an older state.
  func rows(_ key: RowKey, limit: Int) throws(StoreFault) -> [Int64]
  /// The keys whose numbers are in a range, each with a row that may have it, in any order.
  func entries(_ numbers: ClosedRange<Int64>) throws(StoreFault) -> Set<KeyedRow>
}

/// The number of a key, and a row that may have it.
public struct KeyedRow: Sendable, Hashable {
  public var number: Int64
  public var row: Int64

  public init(number: Int64, row: Int64) { (self.number, self.row) = (number, row) }
}

extension KeyIndex {
  /// The rows that may have a key whose number is in a range, in any order.
  package func rows(_ numbers: ClosedRange<Int64>) throws(StoreFault) -> [Int64] {
    Array(Set(try entries(numbers).map(\.row)))
  }

  /// The rows that may have an id in any app, as a JSON array for `json_each` in other statements.
  func list(_ kind: RowKey.Kind, _ value: some TextID) throws(StoreFault) -> StoreValue {
    RowKey.list(try rows(RowKey.numbers(kind, value)))
  }
}
