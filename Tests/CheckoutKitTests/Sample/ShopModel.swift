import CheckoutKit
import Foundation

/// The shop's places, beside its checkouts; the views show both.
@MainActor final class ShopModel {
  /// The app's own links.
  static let scheme = "exampleapp"
  static let hosts: Set<String> = ["pay.example.com"]

  let checkout: CheckoutSession
  private(set) var place = ShopRoute.plans { didSet { onChange() } }
  var onChange: () -> Void = {}

  private let router = LinkRouter<ShopRoute>(schemes: [scheme], hosts: hosts)
  private var isActive = false

  init(checkout: CheckoutSession) { self.checkout = checkout }

  /// `onOpenURL`, which also gets most universal links.
  func open(_ url: URL) {
    if checkout.open(url) { return }
    if case .openInBrowser(let page) = router.receive(url) { checkout.openInBrowser(page) }
    showPending()
  }

  /// `onContinueUserActivity`, which gets the other universal links, such as those of QR codes.
  func continueActivity(_ activityType: String, _ webpageURL: URL?) {
    guard activityType == UniversalLink.activityType, let webpageURL else { return }
    open(webpageURL)
  }

  /// A quick action of the Home Screen.
  func performShortcut(_ type: String) -> Bool {
    defer { showPending() }
    return router.handle(shortcutType: type)
  }

  /// A notification was tapped.
  func openNotification(_ userInfo: [AnyHashable: Any]) {
    router.handle(notification: userInfo)
    showPending()
  }

  /// The scene became active or inactive.
  func setActive(_ isActive: Bool) {
    self.isActive = isActive
    checkout.setActive(isActive)
    showPending()
  }

  private func showPending() {
    if isActive { router.activate { place = $0 } }
  }
}

// In your app: in your customers' languages.

extension CheckoutState {
  var message: String? {
    switch self {
    case .none: nil
    case .opening: "Opening the checkout…"
    case .notOpened(.checkConnection): "You are offline. Check your connection and try again."
    case .notOpened(.tryAgain): "The checkout is busy. Try again in a moment."
    case .notOpened(.contactSupport): "The checkout is not available. Please contact our support."
    case .inBrowser: "Finish paying in your browser, then come back here."
    case .checking: "Checking your payment…"
    case .unchecked: "We could not check your payment yet. If you have paid, do not pay again."
    // True also for a trial and a free order; `CheckoutStatus.isTrial` and `amount` tell them apart.
    case .processing: "Thank you! Your order is complete and is being processed. Do not pay again."
    case .activating: "Thank you! We received your payment and are activating your purchase."
    case .confirmed: "Your purchase is ready. Enjoy!"
    case .notPaid: "You were not charged."
    case .late: "We have not received your payment. If you have paid, it can still arrive."
    case .unknown: "We cannot find this checkout. If you have paid, please contact our support."
    }
  }
}

extension ClaimState {
  var message: String? {
    switch self {
    case .none: nil
    case .signIn: "Sign in to add this purchase to your account."
    case .ask: "Add this purchase to your account?"
    case .adding: "Adding the purchase to your account…"
    case .later: "The purchase could not be added yet. Try again?"
    case .added: "The purchase is now in your account."
    case .otherUser: "This purchase belongs to another account."
    case .expired: "This link has expired. Please contact our support."
    case .unknown: "This link is not valid. Please use the newest link that you received."
    }
  }
}
