// Purchasely's receipt endpoint (https://docs.purchasely.com, Stripe configuration; Importing your
// subscribers). Pure.

public import Domain
internal import Formats

/// One app's Purchasely settings.
public struct PurchaselySettings: Sendable, Equatable {
  public static let urlDefault = "https://s2s.purchasely.io/receipts"

  public var url: String
  public var apiKey: String
  /// Whether `ply_context` is sent, if there is one.
  public var forwardsContext: Bool
  /// The product in the stores that a price corresponds to, sent as `store_product_id`.
  public var storeProducts: [PriceID: String]
  /// The value of `User-Agent`.
  public var userAgent: String

  public init(
    url: String = Self.urlDefault, apiKey: String, forwardsContext: Bool = true,
    storeProducts: [PriceID: String] = [:], userAgent: String
  ) {
    self.url = url
    self.apiKey = apiKey
    self.forwardsContext = forwardsContext
    self.storeProducts = storeProducts
    self.userAgent = userAgent
  }
}

/// `POST https://s2s.purchasely.io/receipts`.
public struct PurchaselyDestination: ReceiptDestination {
  public static let name: DestinationName = "purchasely"
  public static let help = DestinationHelp(
    settings: ["url", "api_key"], secret: "api_key",
    missing: "It processes receipts later: if a purchase does not show up there, ask its support about the "
      + "import id.",
    secondReceipt: "Purchasely does not document what it does with a second receipt of a purchase. As far as "
      + "is known, it gives the subscription to the user in the newer receipt, and may take it from the "
      + "former user; it may also ignore the receipt. Look both users up in its Console afterwards.")

  /// `X-PLATFORM-TYPE` knows Stripe and the app stores, and no other processor.
  public static func accepts(_ processor: ProcessorName) -> Bool {
    processor == "stripe" || StorePlatform(processor) != nil
  }

  /// The type of one-time purchases. One page of Purchasely's documentation lists it, another accepts
  /// `subscription` only.
  public static let oneTimeType = PurchaseKey.ObjectType("checkout_session")

  private let settings: PurchaselySettings

  public init(_ settings: PurchaselySettings) { self.settings = settings }

  public var url: String { settings.url }

  public func headers(for receipt: OutgoingReceipt) -> [(name: String, value: String)] {
    let platform = StorePlatform(receipt.processor)?.rawValue ?? "STRIPE"
    return [
      ("Content-Type", "application/json"), ("X-API-KEY", settings.apiKey), ("X-PLATFORM-TYPE", platform),
      ("User-Agent", settings.userAgent),
    ]
  }

  public func body(for receipt: ReceiptContent) -> [UInt8] {
    var members: [JSONValue.Member] = [.init(name: "user_id", value: .string(receipt.userID.text))]
    func add(_ name: String, _ text: String) { members.append(.init(name: name, value: .string(text))) }
    let isOfStore = StorePlatform(receipt.key.processor) != nil
    if !isOfStore {
      add("stripe_object_type", receipt.key.type.text)
      add("stripe_object_id", receipt.key.id.text)
    }
    // Every purchase that Purchasely accepts has a price.
    if let price = receipt.priceID {
      add(isOfStore ? "store_product_id" : "stripe_price_id", price.text)
      if !isOfStore, let product = settings.storeProducts[price] { add("store_product_id", product) }
    }
    if isOfStore { members += StorePurchase.members(of: receipt.payment) }
    if settings.forwardsContext, let context = receipt.context { add("ply_context", context) }
    return JSONValue.object(members).serialized()
  }

  /// `{"id":"<uuid>"}`: Purchasely processes the import later; its support asks for this id.
  public func verdict(on answer: DeliveryAnswer, now: Timestamp) -> Verdict {
    HTTPVerdict.of(answer, now: now)
  }
}
