import CheckoutKit
import Foundation

/// What the shop does; the views show its state.
@MainActor final class ShopModel {
  /// What is on the screen.
  struct State: Equatable {
    var place: ShopRoute = .plans
    var checkout: Checkout = .none
  }

  enum Checkout: Equatable {
    case none
    case opening
    case inBrowser
    case checking
    case bought
    case notBought(String)
  }

  /// The app's own links.
  static let scheme = "exampleapp"
  static let hosts: Set<String> = ["pay.example.com"]

  private(set) var state = State() { didSet { onChange(state) } }
  var onChange: (State) -> Void = { _ in }
  var openInBrowser: (URL) -> Void = { _ in }

  private let relay: RelayClient
  private let userID: String
  private let attributes: () -> [String: Any]
  private let router = LinkRouter<ShopRoute>(schemes: [scheme], hosts: hosts)
  private var isActive = false
  /// The checkout that the person went to. Keep it in `UserDefaults`, so that it outlives the app.
  private var contextID: String?
  private var cashApp: RedirectHandOff?
  private(set) var work: Task<Void, Never>?

  /// - Parameter attributes: `Purchasely.getBuiltInAttributes()`.
  init(relay: RelayClient, userID: String, attributes: @escaping () -> [String: Any]) {
    self.relay = relay
    self.userID = userID
    self.attributes = attributes
  }

  // MARK: Out

  /// The paywall's button was tapped.
  func buy(planID: String) {
    state.checkout = .opening
    let context = WebCheckoutContext(stripePriceID: planID, attributes: attributes())
    start { [self] in
      let posted = try await relay.checkout(context, userID: userID)
      guard let page = posted.checkoutURL else { return }
      contextID = posted.contextID
      state.checkout = .inBrowser
      openInBrowser(page)
    }
  }

  /// Cash App is asked for the money, and the person comes back by `exampleapp://cash-app`.
  func pay(authorization: URL, redirect: URL) async -> RedirectHandOff.Outcome {
    let handOff = RedirectHandOff(redirect: redirect)
    cashApp = handOff
    openInBrowser(authorization)
    return await handOff.wait(seconds: 300)
  }

  // MARK: Back

  /// `onOpenURL`, which also gets universal links.
  func open(_ url: URL) {
    if cashApp?.open(url) == true { return }
    if let link = WebCheckoutLink(url, schemes: [Self.scheme]) { return buy(planID: link.planID) }
    if case .openInBrowser(let page) = router.receive(url) { openInBrowser(page) }
    handlePending()
  }

  /// `onContinueUserActivity`
  func continueActivity(_ activityType: String, _ webpageURL: URL?) {
    if !router.handle(activityType: activityType, webpageURL: webpageURL), let webpageURL,
      case .openInBrowser(let page) = router.receive(webpageURL)
    {
      openInBrowser(page)
    }
    handlePending()
  }

  /// A quick action of the Home Screen.
  func performShortcut(_ type: String) -> Bool {
    defer { handlePending() }
    return router.handle(shortcutType: type)
  }

  /// A notification was tapped.
  func openNotification(_ userInfo: [AnyHashable: Any]) {
    router.handle(notification: userInfo)
    handlePending()
  }

  /// The scene became active, or is no longer.
  func setActive(_ isActive: Bool) {
    self.isActive = isActive
    handlePending()
    // Whoever comes back by hand, and not by the link, is told as well.
    if isActive, state.checkout == .inBrowser, let contextID { follow(contextID) }
  }

  private func handlePending() {
    guard isActive else { return }
    router.activate { route in
      switch route {
      case .plans, .order: state.place = route
      // A link of somebody else's checkout is no reason to show anything.
      case .checkoutReturn(let back): if back.contextID == contextID { follow(back.contextID) }
      }
    }
  }

  private func follow(_ contextID: String) {
    guard state.checkout == .inBrowser else { return }
    state.checkout = .checking
    start { [self] in
      for try await status in relay.updates(of: contextID) where status.state.isFinal {
        state.checkout = status.state == .delivered ? .bought : .notBought(status.state.rawValue)
      }
    }
  }

  private func start(_ body: @escaping @MainActor () async throws -> Void) {
    work?.cancel()
    work = Task {
      do {
        try await body()
      } catch RelayError.cancelled {
        return
      } catch {
        state.checkout = .notBought(error.localizedDescription)
      }
    }
  }
}
