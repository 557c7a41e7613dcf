// How Swedbank Pay's SDKs recognise the payment URL with which the person comes back from a bank's app. Pure;
// any thread.

public import Foundation

/// A payment order's `paymentUrl`, and which URLs are taken for it.
///
/// Everything compares code unit by code unit: no case is folded, no default port added, `é` written in two
/// ways is two texts.
public struct PaymentURL: Sendable, Hashable {
  /// As the payment order has it.
  public let url: URL
  /// The app's custom scheme, which the payment URL may come back under; nil for none.
  public let callbackScheme: String?

  /// The payment URL of an order.
  /// - Parameter callbackScheme: as it was given to the relay; here its case counts, because it does in the
  ///   SDK.
  public init(_ url: URL, callbackScheme: String? = nil) {
    self.url = url
    self.callbackScheme = callbackScheme
  }

  /// Whose rule to apply.
  public enum Rule: Sendable, Hashable, CaseIterable {
    /// The iOS SDK with a web view: the scheme may be the callback scheme, further query items may have been
    /// added and their order may differ; every original item must be there as often as it was; everything
    /// else is equal.
    case iOSWeb
    /// The iOS SDK with native payments: the whole URL is equal, up to slashes at the end. One with
    /// `fallback=true` is not.
    case iOSNative
    /// The Android SDK: as ``iOSNative``, over the intent's data.
    case android
  }

  /// Whether a URL is the payment URL come back.
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

  /// A query item, decoded where it can be; bytes, so that equal means the same bytes.
  private struct Item: Equatable {
    let name: [UInt8]
    let value: [UInt8]?

    init(_ field: (name: String, value: String?)) {
      name = Array((LinkText.unescaped(field.name) ?? field.name).utf8)
      value = field.value.map { Array((LinkText.unescaped($0) ?? $0).utf8) }
    }
  }
}
