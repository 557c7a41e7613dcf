/// The app's session and places: there is one of each.
@MainActor enum Shop {
  static let checkout: CheckoutSession = {
    guard let relay = URL(string: "https://pay.example.com"),
      let page = URL(string: "https://buy.stripe.com/example")
    else { preconditionFailure("Not a URL") }
    let checkout = CheckoutSession.configure(
      relay: relay, app: "ios", credential: .clientKey("…"), scheme: ShopModel.scheme,
      pages: ["price_1MbK": page], userID: "jdo-1",
      attributes: { [:] },  // Purchasely.getBuiltInAttributes()
      reloadEntitlements: { await Entitlements.reload() })
    checkout.openInBrowser = { UIApplication.shared.open($0) }
    return checkout
  }()
  static let model = ShopModel(checkout: checkout)
}
