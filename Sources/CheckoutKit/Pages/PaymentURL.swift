// The rules by which Swedbank Pay's SDKs recognise the payment URL when the customer returns from a bank's
// app. Pure; thread-safe.

public import Foundation

/// A payment order's `paymentUrl`, and which URLs match it.
///
/// All comparisons are by code unit: no case folding, no default port, no Unicode normalisation of `é`.
public struct PaymentURL: Sendable, Hashable {
  /// As in the payment order.
  public let url: URL
  /// The app's custom scheme, under which the payment URL may come back; nil for none.
  public let callbackScheme: String?

  /// Creates the payment URL of an order.
  /// - Parameters:
  ///   - url: as in the payment order.
  ///   - callbackScheme: as configured at the relay. It is case-sensitive, because it is in the SDK.
  public init(_ url: URL, callbackScheme: String? = nil) {
    self.url = url
    self.callbackScheme = callbackScheme
  }

  /// The SDK whose rule applies.
  public enum Rule: Sendable, Hashable, CaseIterable {
    /// The iOS SDK with a web view. The scheme may be the callback scheme. Query items may have been added
    /// and reordered; every original item must be present as often as before. Everything else must be equal.
    case iOSWeb
    /// The iOS SDK with native payments: the whole URL must be equal, except for slashes at the end.
    /// `fallback=true` makes it different.
    case iOSNative
    /// The Android SDK: as ``iOSNative``, over the intent's data.
    case android
  }

  /// Whether a URL matches the payment URL.
  public func isMatch(_ candidate: URL, rule: Rule = .iOSWeb) -> Bool {
    switch rule {
    case .iOSWeb: isWebMatch(URLParts(candidate))
    case .iOSNative, .android:
      Self.withoutSlashes(candidate.absoluteString).elementsEqual(Self.withoutSlashes(url.absoluteString))
    }
  }

  private func isWebMatch(_ candidate: URLParts) -> Bool {
    let original = URLParts(url)
    let isScheme =
      LinkText.isSame(candidate.scheme, original.scheme)
      || callbackScheme.map { LinkText.isSame(candidate.scheme, $0) } == true
    guard isScheme, LinkText.isSame(candidate.authority, original.authority),
      LinkText.isSame(candidate.path, original.path), LinkText.isSame(candidate.fragment, original.fragment)
    else { return false }
    var items = candidate.fields.map(Item.init)
    for item in original.fields.map(Item.init) {
      guard let index = items.firstIndex(of: item) else { return false }
      items.remove(at: index)
    }
    return true
  }

  private static func withoutSlashes(_ text: String) -> some Sequence<UInt8> {
    text.utf8.reversed().drop { $0 == UInt8(ascii: "/") }
  }

  /// A query item, decoded if possible; as bytes, because `==` on strings normalises Unicode.
  private struct Item: Equatable {
    let name: [UInt8]
    let value: [UInt8]?

    init(_ field: (name: String, value: String?)) {
      name = Array((LinkText.unescaped(field.name) ?? field.name).utf8)
      value = field.value.map { Array((LinkText.unescaped($0) ?? $0).utf8) }
    }
  }
}
