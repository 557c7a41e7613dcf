// What the relay is told before a web checkout, and its form as `ply_context`. Pure; any thread.

internal import Foundation

/// What a Stripe price buys, in the words of Purchasely's import.
public struct StripeObjectType: RawRepresentable, Codable, Hashable, Sendable {
  /// As it is sent.
  public let rawValue: String

  /// A type that the kit has no name for.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A price that renews.
  public static let subscription = StripeObjectType(rawValue: "subscription")
  /// A price that is paid once.
  public static let checkoutSession = StripeObjectType(rawValue: "checkout_session")
}

/// The context of a web checkout: which paywall led to it, and what is to be bought.
///
/// Make it where the paywall's button leads to, and post it with ``RelayClient`` before the browser opens:
///
/// ```swift
/// let context = WebCheckoutContext(
///   stripePriceID: link.planID, attributes: Purchasely.getBuiltInAttributes())
/// ```
public struct WebCheckoutContext: Codable, Hashable, Sendable {
  /// `presentation_id`: the paywall.
  public var presentationID: String?
  /// `placement_id`: where in the app it stood.
  public var placementID: String?
  /// `ab_test_id`
  public var abTestID: String?
  /// `ab_test_variant_id`
  public var abTestVariantID: String?
  /// `stripe_price_id`: the id of a Stripe price, or your own name for one.
  public var stripePriceID: String
  /// `stripe_object_type`
  public var stripeObjectType: StripeObjectType
  /// `original_platform`: where the person saw the paywall. Purchasely's word for iOS is `IOS`.
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

  /// A context of known parts.
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

  /// A context of what the Purchasely SDK knows.
  /// - Parameter attributes: the SDK's built-in attributes. Four of them are read:
  ///   `ply_last_presentation_displayed`, `ply_last_placement_displayed`, `ply_latest_abtest_id` and
  ///   `ply_latest_abtest_variant_id`. What is no text is left out.
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

  /// The longest context that the relay takes, in bytes of JSON.
  static let bytesMax = 16 * 1024

  /// The context as `ply_context`: JSON in base64, standard alphabet, padded. The same context always gives
  /// the same text: keys are sorted, what is nil is left out, slashes are not escaped.
  /// - Throws: ``RelayError/encoding(_:)`` when it is longer than 16 KiB.
  public func plyContext() throws(RelayError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let json: Data
    do { json = try encoder.encode(self) } catch { throw .encoding("The context cannot be written as JSON.") }
    guard json.count <= Self.bytesMax else {
      throw .encoding("The context has \(json.count) bytes; the relay takes \(Self.bytesMax).")
    }
    return json.base64EncodedString()
  }

  /// Reads a `ply_context`.
  /// - Parameter text: base64 in the standard or the URL-safe alphabet, padded or not, as the relay takes it.
  /// - Throws: ``RelayError/encoding(_:)`` when it is none, or lacks price, type or platform.
  public init(plyContext text: String) throws(RelayError) {
    guard let json = Self.decoded(text), !json.isEmpty, json.count <= Self.bytesMax else {
      throw .encoding("This is no base64 of 1 to \(Self.bytesMax) bytes.")
    }
    do {
      self = try JSONDecoder().decode(WebCheckoutContext.self, from: json)
    } catch {
      throw .encoding("The base64 holds no context in JSON with price, type and platform.")
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
    // Padding completes the last group of four, or is left out.
    let missing = (4 - characters.count % 4) % 4
    guard missing < 3, given == 0 || given == missing else { return nil }
    characters += [UInt8](repeating: padding, count: missing)
    return Data(base64Encoded: Data(characters))
  }
}
