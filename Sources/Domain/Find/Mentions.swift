// What an event names besides its purchase: payments, invoices, charges, customers, addresses. Pure; any
// thread.

internal import Formats

/// The ids and e-mail addresses in an event, for a search.
public struct Mentions: Sendable, Equatable {
  /// The most ids of one event, and the most addresses: real events have fewer.
  public static let countMax = 16

  /// Each once, in the order in which they were added.
  public private(set) var ids: [String] = []
  /// Each once, in the form of `address`.
  public private(set) var addresses: [String] = []

  /// Those of the ids that the merchant chose, such as a user's id: other objects may have the same.
  public private(set) var references: [String] = []

  public init() {}

  /// Adds the merchant's own reference; ignores what cannot be one.
  public mutating func add(reference: String?) {
    guard let reference, !ids.contains(reference) else { return }
    add(id: reference)
    if ids.last == reference { references.append(reference) }
  }

  /// Adds an id; ignores what cannot be one.
  public mutating func add(id: String?) {
    guard ids.count < Self.countMax, let id = UntrustedText.identifier(id), !ids.contains(id) else { return }
    ids.append(id)
  }

  /// Adds an e-mail address; ignores what cannot be one.
  public mutating func add(address: String?) {
    guard addresses.count < Self.countMax, let address = address.flatMap(Self.address),
      !addresses.contains(address)
    else { return }
    addresses.append(address)
  }

  /// An e-mail address as it is compared: without spaces around it, in small letters. Mail servers are free
  /// to distinguish capitals in its first part (RFC 5321 §2.4); people do not.
  /// - Returns: nil for a text without `@`.
  public static func address(_ text: String) -> String? {
    let word = text.split(whereSeparator: \.isWhitespace)
    guard word.count == 1, let address = UntrustedText.identifier(word[0].lowercased()),
      address.contains("@")
    else { return nil }
    return address
  }

  public var isEmpty: Bool { ids.isEmpty && addresses.isEmpty }
}
