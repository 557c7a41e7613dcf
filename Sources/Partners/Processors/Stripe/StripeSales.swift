// Which sales of a Stripe account belong to the app. One account often sells more than one thing: another
// app, a shop, a newsletter. Pure; any thread.

internal import Domain

/// A selection of an account's sales: those that any of its entries matches.
public struct StripeSelection: Sendable, Equatable {
  /// Stripe's ids of prices.
  public var prices: [String]
  /// Stripe's ids of products.
  public var products: [String]
  /// Stripe's ids of Payment Links.
  public var paymentLinks: [String]
  /// Pairs that a checkout session or its subscription must all have; without any, metadata match nothing.
  public var metadata: [String: String]

  public init(
    prices: [String] = [], products: [String] = [], paymentLinks: [String] = [],
    metadata: [String: String] = [:]
  ) {
    self.prices = prices
    self.products = products
    self.paymentLinks = paymentLinks
    self.metadata = metadata
  }

  public var isEmpty: Bool {
    prices.isEmpty && products.isEmpty && paymentLinks.isEmpty && metadata.isEmpty
  }

  fileprivate var comparesItems: Bool { !prices.isEmpty || !products.isEmpty }

  /// The entry that matches a sale, as the configuration names it: `prices: price_1`; nil if none does.
  func match(_ sale: StripeSale) -> String? {
    for item in sale.items {
      if let price = item.priceIDs.first(where: prices.contains) { return "prices: \(price)" }
      if let product = item.productID, products.contains(product) { return "products: \(product)" }
    }
    if let link = sale.paymentLink, paymentLinks.contains(link) { return "payment_links: \(link)" }
    guard !metadata.isEmpty else { return nil }
    let matches = sale.metadata.contains { map in metadata.allSatisfy { map[$0.key] == $0.value } }
    return matches ? "metadata" : nil
  }

  /// What a sale that nothing matches proves. A kind of entry that the selection does not have matches no
  /// other event either.
  fileprivate func mismatch(_ sale: StripeSale) -> Observations {
    var seen: Observations = []
    let namesPrices = prices.isEmpty || sale.items.allSatisfy { !$0.priceIDs.isEmpty }
    let namesProducts = products.isEmpty || sale.items.allSatisfy { $0.productID != nil }
    if prices.isEmpty && products.isEmpty || !sale.items.isEmpty && namesPrices && namesProducts {
      seen.insert(.otherPrice)
    }
    if paymentLinks.isEmpty || sale.isSession { seen.insert(.otherPaymentLink) }
    if metadata.isEmpty || sale.hasOwnMetadata { seen.insert(.otherMetadata) }
    return seen
  }
}

/// The facts of one event by which a sale is selected.
struct StripeSale {
  /// One item with the ids by which it may be selected.
  struct Item {
    /// Its price, and what `price_map` makes of it.
    var priceIDs: [String]
    var productID: String?
  }

  /// What is sold; empty if the event does not say it.
  var items: [Item] = []
  /// Stripe's id of the Payment Link of a session.
  var paymentLink: String?
  /// The metadata of the session and of the subscription, as far as the event has them.
  var metadata: [Metadata] = []
  /// Whether the event is about a checkout session.
  var isSession = false
  /// Whether the metadata are those of the session or the subscription itself, not a copy in an invoice.
  var hasOwnMetadata = false
}

/// Decides which sales belong to the app.
struct StripeSales {
  /// Nil if everything that the account sells is the app's.
  let sells: StripeSelection?
  let except: StripeSelection

  /// Purchasely's own checkouts carry this pair, and Purchasely knows of them already.
  private static let purchasely = (key: "ply_provider", value: "purchasely")

  /// Whether what is sold matters.
  var comparesItems: Bool { except.comparesItems || sells?.comparesItems ?? false }

  /// What an event proves about whose sale it is.
  func observations(_ sale: StripeSale) -> Observations {
    var seen: Observations = exception(sale) == nil ? [] : .excepted
    guard let sells else { return seen }
    if sells.match(sale) != nil { seen.insert(.ours) }
    seen.formUnion(sells.mismatch(sale))
    return seen
  }

  /// The rule by which an event is no sale of the app, for the operator; nil if it does not prove that.
  func foreignRule(_ sale: StripeSale) -> String? {
    if let exception = exception(sale) { return exception }
    guard let sells, sells.match(sale) == nil, sells.mismatch(sale).isSuperset(of: .notOurs) else {
      return nil
    }
    return "nothing in stripe.sells matches it"
  }

  private func exception(_ sale: StripeSale) -> String? {
    if sale.metadata.contains(where: { $0[Self.purchasely.key] == Self.purchasely.value }) {
      return "metadata \(Self.purchasely.key): \(Self.purchasely.value), a checkout that Purchasely opened"
    }
    return except.match(sale).map { "stripe.except, \($0)" }
  }
}
