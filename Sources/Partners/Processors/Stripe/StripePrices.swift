// Which prices an object of Stripe reports, the one that was bought first. Pure; any thread.

internal import Domain
internal import Formats

extension StripeFacts {
  static let pricesMax = 100

  /// The prices of what is sold, then of what is paid beside it, each once.
  func prices(_ items: [Item], _ others: [Item]) -> [PriceID] {
    var prices: [PriceID] = []
    for item in (items.sortedByRank + others.sortedByRank).prefix(Self.pricesMax) {
      guard let price = UntrustedText.identifier(price(of: item)).map(PriceID.init) else { continue }
      if !prices.contains(price) { prices.append(price) }
    }
    return prices
  }

  /// The items by which a sale is selected; none if they do not matter.
  func saleItems(_ items: [Item]) -> [StripeSale.Item] {
    guard settings.sales.comparesItems else { return [] }
    return items.map { item in
      let price = price(of: item)
      return StripeSale.Item(
        priceIDs: [item.priceID, price == item.priceID ? nil : price].compactMap(\.self),
        productID: item.productID)
    }
  }

  /// The price to report for an item. The configuration may name one for a product or a lookup key.
  private func price(of item: Item) -> String? {
    let own = item.priceID
    guard !settings.priceMap.isEmpty else { return own }
    if let own, settings.sells?.prices.contains(own) ?? false { return own }
    // A lookup key names one price of a product.
    let keys = [item.lookupKey.map { "lookup:\($0)" }, item.productID]
    return keys.lazy.compactMap { $0.flatMap { settings.priceMap[$0]?.text } }.first ?? own
  }
}

extension [Item] {
  /// The plan first; otherwise in the order of the event.
  fileprivate var sortedByRank: [Item] {
    enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }.map(\.element)
  }
}
