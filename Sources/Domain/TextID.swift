// Ids and names as types: the compiler keeps a user's id from being used as an app's. Pure; any thread.

/// An identifier or a name that is a text. Two are equal if their bytes are, as in the database; Swift's
/// `String` also takes different spellings of one character for equal. A value costs what its text costs.
public protocol TextID: Sendable, Hashable, Comparable, CustomStringConvertible,
  ExpressibleByStringInterpolation
{
  var text: String { get }

  /// - Parameter text: not checked. `UntrustedText.identifier` checks untrusted input.
  init(_ text: String)
}

extension TextID {
  public init(stringLiteral text: String) { self.init(text) }

  public var description: String { text }

  public static func == (left: Self, right: Self) -> Bool {
    let count = left.text.utf8.count
    guard count == right.text.utf8.count, left.text == right.text else { return false }
    // ASCII, of which nearly all ids are, has one spelling for each character. Its length is known.
    return left.text.utf16.count == count || left.text.utf8.elementsEqual(right.text.utf8)
  }

  /// By bytes, as SQLite's BINARY collation.
  public static func < (left: Self, right: Self) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// The name of an app in the configuration, in URLs and in metrics.
public struct AppSlug: TextID {
  public let text: String
  public init(_ text: String) { self.text = text }
}

/// The app's own id of a user.
public struct UserID: TextID {
  public let text: String
  public init(_ text: String) { self.text = text }
}

/// A processor's id of an event.
public struct EventID: TextID {
  public let text: String
  public init(_ text: String) { self.text = text }
}

/// A processor's id of the object that a purchase is about, such as a subscription.
public struct ObjectID: TextID {
  public let text: String
  public init(_ text: String) { self.text = text }

  /// A purchase whose object has no id yet is stored under its checkout's.
  public init(_ session: SessionID) { text = session.text }
}

/// A processor's id of a checkout.
public struct SessionID: TextID {
  public let text: String
  public init(_ text: String) { self.text = text }
}

/// A processor's id of a customer.
public struct CustomerID: TextID {
  public let text: String
  public init(_ text: String) { self.text = text }
}

extension CustomerID {
  /// The form in which owners of payers are compared. A processor may not distinguish capitals, or drop
  /// blanks at the ends: then another spelling would lead to the stored cards of somebody else.
  public var payerKey: CustomerID {
    let text = text.uppercased().lowercased()
    let start = text.unicodeScalars.drop { $0.properties.isWhitespace }
    let blanks = start.reversed().prefix { $0.properties.isWhitespace }.count
    return CustomerID(String(start.dropLast(blanks)))
  }
}

/// A merchant's account at a processor: the address of the API and the merchant's id there. All apps that use
/// the account share what the processor stores for it.
public struct AccountID: TextID {
  public let text: String
  public init(_ text: String) { self.text = text }
}

/// The id of a price, at the processor or in an app's context.
public struct PriceID: TextID {
  public let text: String
  public init(_ text: String) { self.text = text }
}

/// The relay's id of a context, `ctx_…`.
public struct ContextID: GeneratedID {
  public static let prefix = "ctx_"
  public let text: String
  public init(_ text: String) { self.text = text }
}

/// The relay's id of a receipt, `rcp_…`. It contains the row of its purchase.
public struct ReceiptID: GeneratedID {
  public static let prefix = "rcp_"
  public let text: String
  public init(_ text: String) { self.text = text }
}

extension ReceiptID {
  /// The row of its purchase; nil if it is not well formed.
  public var purchaseRow: PurchaseRowID? { number.map { PurchaseRowID($0) } }
}

/// The relay's id of a job, `job_…`. It contains the job's row.
public struct JobID: GeneratedID {
  public static let prefix = "job_"
  public let text: String
  public init(_ text: String) { self.text = text }
}

extension JobID {
  /// The job's row; nil if it is not well formed.
  public var row: JobRowID? { number.map { JobRowID($0) } }
}

/// The relay's id of a claim, `claim_…`. It is no secret; the claim's token is (`ClaimToken`).
public struct ClaimID: GeneratedID {
  public static let prefix = "claim_"
  public let text: String
  public init(_ text: String) { self.text = text }
}
