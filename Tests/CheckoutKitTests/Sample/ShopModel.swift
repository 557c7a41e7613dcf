import CheckoutKit
import Foundation

/// What the shop does; the views show its state.
@MainActor final class ShopModel {
  /// The state of the screen.
  struct State: Equatable {
    var place: ShopRoute = .plans
    var checkout: Checkout = .none
    var claim: Claim = .none
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
      // True also for a trial and a free order; `CheckoutStatus.isTrial` and `amount` tell them apart.
      case .processing: "Thank you! Your order is complete and is being processed. Do not pay again."
      case .bought: "Thank you! It is unlocked."
      case .notPaid: "No payment has come, so nothing was bought."
      case .late: "No payment was received in time; a later one can still change it."
      case .unknown: "This checkout is no longer known. If you have paid, please contact our support."
      }
    }
  }

  /// A purchase that names no user, and whose link the customer has opened.
  enum Claim: Equatable {
    case none
    /// It waits until the customer has signed in.
    case signIn
    /// The customer decides.
    case ask
    case adding
    /// The relay could not decide yet.
    case later
    case added
    case otherUser
    case expired
    case unknown

    /// Whether to show the buttons "Add" and "Not now".
    var isQuestion: Bool { self == .ask || self == .later }

    init(_ result: ClaimResult) {
      self =
        switch result {
        case .claimed, .replay: .added
        case .otherUser: .otherUser
        case .expired: .expired
        case .unknown: .unknown
        case .retryLater: .later
        }
    }

    /// In your app: in your customers' languages.
    var message: String? {
      switch self {
      case .none: nil
      case .signIn: "Sign in to add this purchase to your account."
      case .ask: "Add this purchase to your account?"
      case .adding: "Adding the purchase to your account."
      case .later: "The purchase could not be added yet. Try again?"
      case .added: "The purchase is in your account now."
      case .otherUser: "This purchase belongs to another account."
      case .expired: "This link is no longer valid. Please contact our support."
      case .unknown: "This link is not valid. Please use the newest one that you got."
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
  var keepCheckouts: (OpenCheckouts) -> Void = { _ in }

  private let relay: RelayClient
  private let outbox: CheckoutOutbox
  /// The id that the Purchasely SDK has now.
  private var userID: String
  /// Whether that is an account's id, and not the anonymous one of this installation.
  private var isSignedIn: Bool
  private let attributes: () -> [String: Any]
  private let clock: any CheckoutClock
  private let router = LinkRouter<ShopRoute>(schemes: [scheme], hosts: hosts)
  private var isActive = false
  /// The checkouts that the customers of this device opened. An id is kept until the purchase is unlocked or
  /// the checkout ended without a payment: an earlier page may still be paid in the browser. After the time
  /// for the payment it is kept for 30 days.
  private var checkouts: OpenCheckouts { didSet { if checkouts != oldValue { keepCheckouts(checkouts) } } }
  /// Those of this customer, the newest last. The others are not this customer's to see.
  private var contextIDs: [String] { checkouts.ids(of: userID) }
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
  private(set) var claiming: Task<Void, Never>?

  /// - Parameters:
  ///   - outbox: of the relay's client; pass its outcomes to ``note(_:)``.
  ///   - attributes: `Purchasely.getBuiltInAttributes()`.
  ///   - userID: the id that the Purchasely SDK has: the account's, or the anonymous one.
  ///   - checkouts: what `keepCheckouts` stored: the system may end the app while the browser is open.
  init(
    relay: RelayClient, outbox: CheckoutOutbox, userID: String, isSignedIn: Bool = true,
    attributes: @escaping () -> [String: Any], checkouts: OpenCheckouts = OpenCheckouts(),
    clock: any CheckoutClock = SystemClock()
  ) {
    self.relay = relay
    self.outbox = outbox
    self.userID = userID
    self.isSignedIn = isSignedIn
    self.attributes = attributes
    self.checkouts = checkouts
    self.clock = clock
    if !contextIDs.isEmpty { state.checkout = .unchecked }
    showClaim()
  }

  // MARK: Users

  /// The user has signed in or out: `userID` is what the Purchasely SDK has from now on. What the user before
  /// has bought is not shown any more.
  func changeUser(to userID: String, isSignedIn: Bool) {
    work?.cancel()
    followed = nil
    (self.userID, self.isSignedIn) = (userID, isSignedIn)
    state.checkout = contextIDs.isEmpty ? .none : .unchecked
    showClaim()
    if isActive { follow(contextIDs.last { !late.contains($0) }) }
  }

  /// Asks about the purchase whose link is kept.
  private func showClaim() {
    state.claim = outbox.keptClaim == nil ? .none : isSignedIn ? .ask : .signIn
  }

  /// The customer wants the purchase in this account.
  func addPurchase() {
    guard state.claim.isQuestion, let link = outbox.keptClaim else { return }
    state.claim = .adding
    let user = userID
    claiming = Task { [self] in
      // Log the error's `logText` here if you need it. After `.claimed`, have the Purchasely SDK synchronise.
      let result = try? await outbox.claim(link, userID: user)
      // Another user may have signed in meanwhile.
      if user == userID, state.claim == .adding { state.claim = result.map(Claim.init) ?? .later }
    }
  }

  /// The customer does not want it in this account.
  func declinePurchase() {
    outbox.discardClaim()
    state.claim = .none
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
        checkouts.add(checkout.contextID, of: userID)
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
    checkouts.replace(id, by: posted.contextID)
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
      case .claim(let link):
        outbox.keep(link)
        showClaim()
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
    if status.progress.isOver, !mayStillBePaid(status) { checkouts.remove(contextID) }
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
    checkouts.remove(contextID)
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
