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
  /// Keeps the checkout that the person went to for the next launch, or nil when it has ended.
  var keepContextID: (String?) -> Void = { _ in }

  private let relay: RelayClient
  private let userID: String
  private let attributes: () -> [String: Any]
  private let clock: any CheckoutClock
  private let router = LinkRouter<ShopRoute>(schemes: [scheme], hosts: hosts)
  private var isActive = false
  /// The checkout that the person went to.
  private var contextID: String?
  /// What the app was opened with last, and when.
  private var lastOpened: (url: URL, seconds: TimeInterval)?
  private var cashApp: RedirectHandOff?
  private(set) var work: Task<Void, Never>?

  /// - Parameters:
  ///   - attributes: `Purchasely.getBuiltInAttributes()`.
  ///   - contextID: what `keepContextID` kept: the system may end the app while the browser is open.
  init(
    relay: RelayClient, userID: String, attributes: @escaping () -> [String: Any], contextID: String? = nil,
    clock: any CheckoutClock = SystemClock()
  ) {
    self.relay = relay
    self.userID = userID
    self.attributes = attributes
    self.contextID = contextID
    self.clock = clock
    if contextID != nil { state.checkout = .inBrowser }
  }

  // MARK: Out

  /// The paywall's button was tapped.
  func buy(planID: String) {
    state.checkout = .opening
    let context = WebCheckoutContext(stripePriceID: planID, attributes: attributes())
    start { [self] in
      let posted = try await relay.checkout(context, userID: userID)
      guard let page = posted.checkoutURL, !Task.isCancelled else { return }
      contextID = posted.contextID
      keepContextID(posted.contextID)
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

  /// `onOpenURL`, which gets most universal links, too.
  func open(_ url: URL) {
    // A link that comes by both ways is one link.
    let now = clock.seconds
    if let lastOpened, lastOpened.url == url, now - lastOpened.seconds < 2 { return }
    lastOpened = (url, now)
    if cashApp?.open(url) == true { return }
    if let link = WebCheckoutLink(url, schemes: [Self.scheme]) { return buy(planID: link.planID) }
    if case .openInBrowser(let page) = router.receive(url) { openInBrowser(page) }
    handlePending()
  }

  /// `onContinueUserActivity`, which gets the other universal links, such as those of QR codes.
  func continueActivity(_ activityType: String, _ webpageURL: URL?) {
    guard activityType == UniversalLink.activityType, let webpageURL else { return }
    open(webpageURL)
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
    if isActive {
      // Whoever comes back by hand, and not by the link, is told as well.
      if state.checkout == .inBrowser, let contextID { follow(contextID) }
    } else if state.checkout == .checking {
      // An app in the background is stopped, and its time goes on: it asks anew when it is back.
      work?.cancel()
      state.checkout = .inBrowser
    }
  }

  private func handlePending() {
    guard isActive else { return }
    router.activate { route in
      switch route {
      case .plans, .order: state.place = route
      case .checkoutReturn(let back):
        // A link of somebody else's checkout is no reason to show anything.
        guard let contextID, back.contextID == nil || back.contextID == contextID else { return }
        follow(contextID)
      }
    }
  }

  /// Asks what became of the checkout, until it has ended or the time is up.
  private func follow(_ contextID: String) {
    guard state.checkout != .checking, state.checkout != .bought else { return }
    state.checkout = .checking
    start { [self] in
      do {
        for try await status in relay.updates(of: contextID)
        where status.state.isFinal && !Task.isCancelled {
          keepContextID(nil)
          state.checkout = status.state == .delivered ? .bought : .notBought(status.state.rawValue)
        }
      } catch let error as RelayError where !Task.isCancelled && (error == .timedOut || error.isTransient) {
        // To have heard nothing is no news: the person may still pay, or have paid.
        state.checkout = .inBrowser
      } catch RelayError.http(let failure) where !Task.isCancelled && failure.status == 404 {
        keepContextID(nil)
        state.checkout = .notBought("The relay does not know it.")
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
        if !Task.isCancelled { state.checkout = .notBought(error.localizedDescription) }
      }
    }
  }
}
