import StoreKit

/// How the paywall may lead to the web.
enum WebLink {
  /// Open any page in the browser.
  case anyLink
  /// Open any page in the browser, after `continuesToTheWeb()`.
  case customLink
  /// Call `ExternalPurchaseLink.open()`, which opens the address in `Info.plist` and no other.
  case configuredLink
  /// Hide the button.
  case none

  static func allowed() async -> WebLink {
    guard #available(iOS 15.4, *), AppStore.canMakePayments else { return .none }
    // The storefront's country, in three letters (ISO 3166-1 alpha-3).
    if await Storefront.current?.countryCode == "USA" { return .anyLink }
    // These two are true where the app has the entitlement, and Info.plist the storefront.
    if #available(iOS 18.1, *), await ExternalPurchaseCustomLink.isEligible { return .customLink }
    return await ExternalPurchaseLink.canOpen ? .configuredLink : .none
  }

  /// Shows Apple's notice. Call it when the customer taps the button.
  @available(iOS 18.1, *) static func continuesToTheWeb() async throws -> Bool {
    try await ExternalPurchaseCustomLink.showNotice(type: .browser) == .continued
  }
}
