// The context of a web checkout, and its form as `ply_context`. Pure; thread-safe.

internal import Foundation

/// What a Stripe price buys, in the terms of Purchasely's import.
public struct StripeObjectType: RawRepresentable, Codable, Hashable, Sendable {
  /// The value that is sent.
  public let rawValue: String

  /// Creates a type for which the kit has no name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A recurring price.
  public static let subscription = StripeObjectType(rawValue: "subscription")
  /// A one-time price.
  public static let checkoutSession = StripeObjectType(rawValue: "checkout_session")
}

/// The context of a web checkout: the paywall that led to it, and the price.
///
/// Create it in the action of the paywall's button, and post it with ``RelayClient`` before the browser
/// opens:
///
/// ```swift
/// let context = WebCheckoutContext(
///   stripePriceID: link.planID, attributes: Purchasely.getBuiltInAttributes())
/// ```
public struct WebCheckoutContext: Codable, Hashable, Sendable {
  /// `presentation_id`: the paywall.
  public var presentationID: String?
  /// `placement_id`: the paywall's place in the app.
  public var placementID: String?
  /// `ab_test_id`
  public var abTestID: String?
  /// `ab_test_variant_id`
  public var abTestVariantID: String?
  /// `stripe_price_id`: the id of a Stripe price, or your own name for one.
  public var stripePriceID: String
  /// `stripe_object_type`
  public var stripeObjectType: StripeObjectType
  /// `original_platform`: where the customer saw the paywall. Purchasely's value for iOS is `IOS`.
  public var originalPlatform: String

  private enum CodingKeys: String, CodingKey {
    case presentationID = "presentation_id"
    case placementID = "placement_id"
    case abTestID = "ab_test_id"
    case abTestVariantID = "ab_test_variant_id"
    case stripePriceID = "stripe_price_id"
    case stripeObjectType = "stripe_object_type"
    case originalPlatform = "original_platform"
  }

  /// Creates a context from its parts.
  public init(
    presentationID: String? = nil, placementID: String? = nil, abTestID: String? = nil,
    abTestVariantID: String? = nil, stripePriceID: String, stripeObjectType: StripeObjectType = .subscription,
    originalPlatform: String = "IOS"
  ) {
    self.presentationID = presentationID
    self.placementID = placementID
    self.abTestID = abTestID
    self.abTestVariantID = abTestVariantID
    self.stripePriceID = stripePriceID
    self.stripeObjectType = stripeObjectType
    self.originalPlatform = originalPlatform
  }

  /// Creates a context from the Purchasely SDK's attributes.
  /// - Parameters:
  ///   - stripePriceID: the price to buy.
  ///   - stripeObjectType: whether it renews.
  ///   - originalPlatform: where the customer saw the paywall.
  ///   - attributes: the SDK's built-in attributes. Four of them are read: `ply_last_presentation_displayed`,
  ///     `ply_last_placement_displayed`, `ply_latest_abtest_id` and `ply_latest_abtest_variant_id`. Values
  ///     that are not strings are ignored.
  public init(
    stripePriceID: String, stripeObjectType: StripeObjectType = .subscription,
    originalPlatform: String = "IOS", attributes: [String: Any]
  ) {
    self.init(
      presentationID: attributes["ply_last_presentation_displayed"] as? String,
      placementID: attributes["ply_last_placement_displayed"] as? String,
      abTestID: attributes["ply_latest_abtest_id"] as? String,
      abTestVariantID: attributes["ply_latest_abtest_variant_id"] as? String,
      stripePriceID: stripePriceID, stripeObjectType: stripeObjectType, originalPlatform: originalPlatform)
  }

  // MARK: ply_context

  /// The relay's limit for a context, in bytes of JSON.
  static let bytesMax = 16 * 1024

  /// The context as `ply_context`: JSON in base64, standard alphabet, padded. The result is deterministic:
  /// keys are sorted, nil is omitted, slashes are not escaped.
  /// - Throws: ``RelayError/encoding(_:)`` when it exceeds 16 KiB.
  public func plyContext() throws(RelayError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let json: Data
    do { json = try encoder.encode(self) } catch { throw .encoding("The context cannot be written as JSON.") }
    guard json.count <= Self.bytesMax else {
      throw .encoding("The context has \(json.count) bytes; the relay accepts at most \(Self.bytesMax).")
    }
    return json.base64EncodedString()
  }

  /// Reads a `ply_context`.
  /// - Parameter text: base64 in the standard or the URL-safe alphabet, padded or not, as the relay accepts
  ///   it.
  /// - Throws: ``RelayError/encoding(_:)`` when it is invalid, or lacks price, type or platform.
  public init(plyContext text: String) throws(RelayError) {
    guard let json = Self.decoded(text), !json.isEmpty, json.count <= Self.bytesMax else {
      throw .encoding("This is not base64 of 1 to \(Self.bytesMax) bytes.")
    }
    do {
      self = try JSONDecoder().decode(WebCheckoutContext.self, from: json)
    } catch {
      throw .encoding("The base64 has no context in JSON with price, type and platform.")
    }
  }

  private static func decoded(_ text: String) -> Data? {
    var characters = text.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    let padding = UInt8(ascii: "=")
    let given = characters.reversed().prefix { $0 == padding }.count
    characters.removeLast(given)
    // Padding must complete the last group of four, or be absent.
    let missing = (4 - characters.count % 4) % 4
    guard missing < 3, given == 0 || given == missing else { return nil }
    characters += [UInt8](repeating: padding, count: missing)
    return Data(base64Encoded: Data(characters))
  }
}
