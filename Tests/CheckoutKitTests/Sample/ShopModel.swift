import CheckoutKit
import Foundation

/// What the shop does; the views show its state.
@MainActor final class ShopModel {
  /// The state of the screen.
  struct State: Equatable {
    var place: ShopRoute = .plans
    var checkout: Checkout = .none
  }

  /// The state of a checkout as shown to the customer. No case can carry a server's text.
  enum Checkout: Equatable {
    case none
    case opening
    /// There is no checkout page to open.
    case notOpened(RelayError.Advice)
    case inBrowser
    case checking
    /// The relay could not be reached to check the payment.
    case unchecked
    /// Paid, and not unlocked yet.
    case processing
    case bought
    /// It ended without a payment.
    case notPaid
    /// No payment was received in time, so far.
    case late
    /// The relay does not know the checkout, or no longer does.
    case unknown

    /// In your app: in your customers' languages.
    var message: String? {
      switch self {
      case .none: nil
      case .opening: "Opening the checkout."
      case .notOpened(.checkConnection): "There is no connection. Check it and try again."
      case .notOpened(.tryAgain): "The checkout is busy. Try again in a moment."
      case .notOpened(.contactSupport): "The checkout cannot be opened at the moment."
      case .inBrowser: "Go on in the browser. Come back when you are done."
      case .checking: "Looking for your payment."
      case .unchecked: "We could not check your payment yet. If you have paid, do not pay again."
      case .processing: "Thank you! You have paid, and your purchase is being processed. Do not pay again."
      case .bought: "Thank you! It is unlocked."
      case .notPaid: "No payment has come, so nothing was bought."
      case .late: "No payment was received in time; a later one can still change it."
      case .unknown: "This checkout is no longer known. If you have paid, please contact our support."
      }
    }
  }

  /// The app's own links.
  static let scheme = "exampleapp"
  static let hosts: Set<String> = ["pay.example.com"]

  private(set) var state = State() { didSet { onChange(state) } }
  var onChange: (State) -> Void = { _ in }
  var openInBrowser: (URL) -> Void = { _ in }
  /// Stores the unfinished checkouts for the next launch.
  var keepContextIDs: ([String]) -> Void = { _ in }

  private let relay: RelayClient
  private let outbox: CheckoutOutbox
  private let userID: String
  private let attributes: () -> [String: Any]
  private let clock: any CheckoutClock
  private let router = LinkRouter<ShopRoute>(schemes: [scheme], hosts: hosts)
  private var isActive = false
  /// The checkouts that the customer opened, the newest last. An id is kept until the purchase is unlocked or
  /// the checkout ended without a payment: an earlier page may still be paid in the browser. After the time
  /// for the payment it is kept for 30 days.
  private var contextIDs: [String] { didSet { if contextIDs != oldValue { keepContextIDs(contextIDs) } } }
  /// Those of them whose payment did not come in time. They are asked about once at each activation.
  private var late: Set<String> = []
  /// The checkout that is being polled, if any.
  private var followed: String?
  /// What was shown before the relay was asked.
  private var shownBefore = Checkout.none
  /// The URL that opened the app last, and when.
  private var lastOpened: (url: URL, seconds: TimeInterval)?
  private var cashApp: RedirectHandOff?
  private(set) var work: Task<Void, Never>?

  /// - Parameters:
  ///   - outbox: of the relay's client; pass its outcomes to ``note(_:)``.
  ///   - attributes: `Purchasely.getBuiltInAttributes()`.
  ///   - contextIDs: the ids that `keepContextIDs` stored: the system may end the app while the browser is
  ///     open.
  init(
    relay: RelayClient, outbox: CheckoutOutbox, userID: String, attributes: @escaping () -> [String: Any],
    contextIDs: [String] = [],
    clock: any CheckoutClock = SystemClock()
  ) {
    self.relay = relay
    self.outbox = outbox
    self.userID = userID
    self.attributes = attributes
    self.contextIDs = contextIDs
    self.clock = clock
    if !contextIDs.isEmpty { state.checkout = .unchecked }
  }

  // MARK: Outgoing

  /// The paywall's button was tapped.
  func buy(planID: String) {
    state.checkout = .opening
    let context = WebCheckoutContext(stripePriceID: planID, attributes: attributes())
    start { [self] in
      do throws(RelayError) {
        // At most five seconds, if the outbox knows the page: a sale does not wait for the relay.
        let checkout = try await outbox.begin(context, userID: userID)
        if Task.isCancelled { return }
        contextIDs = contextIDs.filter { $0 != checkout.contextID } + [checkout.contextID]
        state.checkout = .inBrowser
        openInBrowser(checkout.page)
      } catch {
        // Log `error.logText` here if you need it.
        if !Task.isCancelled { state.checkout = .notOpened(error.advice) }
      }
    }
  }

  /// What became of a context. The relay may have stored it under another id, which has its status.
  func note(_ outcome: CheckoutOutbox.Outcome) {
    guard case .posted(let id, let posted) = outcome, posted.contextID != id else { return }
    contextIDs = contextIDs.map { $0 == id ? posted.contextID : $0 }
  }

  /// Cash App collects the money, and the customer comes back by `exampleapp://cash-app`.
  func pay(authorization: URL, redirect: URL) async -> RedirectHandOff.Outcome {
    let handOff = RedirectHandOff(redirect: redirect)
    cashApp = handOff
    openInBrowser(authorization)
    return await handOff.wait(seconds: 300)
  }

  // MARK: Incoming

  /// `onOpenURL`, which also gets most universal links.
  func open(_ url: URL) {
    // A link may arrive in both ways; handle it once.
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

  /// The scene became active or inactive.
  func setActive(_ isActive: Bool) {
    self.isActive = isActive
    handlePending()
    if isActive {
      // The customer may come back without the link, and a receipt may have been replayed.
      follow(contextIDs.last { !late.contains($0) })
    } else if followed != nil {
      // The system suspends an app in the background while time goes on: ask again on return.
      work?.cancel()
      stopAsking()
    }
  }

  private func handlePending() {
    guard isActive else { return }
    router.activate { route in
      switch route {
      case .plans, .order: state.place = route
      case .checkoutReturn(let back):
        // Ignore a link to another customer's checkout.
        guard let id = back.contextID ?? contextIDs.last, contextIDs.contains(id) else { return }
        follow(id)
      }
    }
  }

  /// Reads the status of all checkouts: the others once, this one until it has ended or the time is up.
  private func follow(_ contextID: String?) {
    guard followed == nil, state.checkout != .opening else { return }
    start { [self] in
      // The relay may be back since the checkout began.
      await outbox.flush()
      for id in contextIDs.filter({ $0 != contextID }) {
        do {
          show(try await relay.status(of: id), of: id)
        } catch {
          failed(error, of: id)
          // Without a network, the others would only take time.
          if (error as? RelayError)?.isTransient == true { break }
        }
      }
      if let contextID, contextIDs.contains(contextID), !Task.isCancelled {
        do {
          for try await status in relay.updates(of: contextID) { show(status, of: contextID) }
        } catch {
          failed(error, of: contextID)
        }
      }
      if !Task.isCancelled { stopAsking() }
    }
    guard let contextID else { return }
    followed = contextID
    shownBefore = state.checkout
    state.checkout = .checking
  }

  private func show(_ status: CheckoutStatus, of contextID: String) {
    if Task.isCancelled { return }
    late.remove(contextID)
    if status.progress.isOver, !mayStillBePaid(status) { contextIDs.removeAll { $0 == contextID } }
    switch status.progress {
    case .pending: break
    case .processing: state.checkout = .processing
    case .processed: state.checkout = .bought
    // Another checkout may have been paid.
    case .unpaid:
      if contextID == followed, state.checkout == .checking {
        state.checkout = status.state == .expired ? .late : .notPaid
      }
    }
  }

  /// Whether to ask about an expired checkout again.
  private func mayStillBePaid(_ status: CheckoutStatus) -> Bool {
    guard status.state == .expired, !status.isPaid, let begun = CheckoutID.date(of: status.contextID),
      clock.date.timeIntervalSince(begun) < 30 * 24 * 60 * 60
    else { return false }
    late.insert(status.contextID)
    return true
  }

  private func failed(_ error: any Error, of contextID: String) {
    guard !Task.isCancelled, let error = error as? RelayError else { return }
    guard error.isUnknownContext else {
      // A failure says nothing about the payment: the customer may still pay, or have paid.
      if contextID == followed, error != .timedOut, shownBefore == .inBrowser { shownBefore = .unchecked }
      return
    }
    // The relay cannot know a context that is still to be posted.
    if outbox.pendingContextIDs.contains(contextID) { return }
    contextIDs.removeAll { $0 == contextID }
    if contextID == followed, state.checkout == .checking { state.checkout = .unknown }
  }

  private func stopAsking() {
    followed = nil
    if state.checkout == .checking { state.checkout = shownBefore }
  }

  private func start(_ body: @escaping @MainActor () async -> Void) {
    work?.cancel()
    followed = nil
    work = Task {
      // Another task may have replaced this one before it began.
      if !Task.isCancelled { await body() }
    }
  }
}
