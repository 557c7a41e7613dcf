// The checkouts of the user who is signed in: begins them, follows them and keeps their ids across launches.

public import Foundation

#if canImport(SwiftUI)
  public import SwiftUI
#endif

/// The checkouts of one app, for its screens. Configure it once at launch:
///
/// ```swift
/// let checkout = CheckoutSession.configure(
///   relay: url, app: "ios", credential: .clientKey(key), scheme: "exampleapp",
///   pages: ["price_1MbK": paymentLink], userID: userID,
///   attributes: { Purchasely.getBuiltInAttributes() }, reloadEntitlements: { await account.reload() })
/// checkout.openInBrowser = { UIApplication.shared.open($0) }
/// checkout.buy("price_1MbK")
/// ```
///
/// Pass every URL to ``open(_:)``, and the scene's phases to ``setActive(_:)``. A checkout's id is kept, with
/// its user, until the app's backend reports the entitlement or the checkout has ended without a payment. A
/// customer who returns without a link, pays late or restarts the app still gets the purchase.
@MainActor public final class CheckoutSession {
  /// The session that `configure` made last.
  public private(set) static var shared: CheckoutSession?

  #if canImport(SwiftUI)
    /// The newest checkout.
    @Published public private(set) var state = CheckoutState.none { didSet { onChange() } }
    /// The purchase whose claim link the customer has opened.
    @Published public private(set) var claim = ClaimState.none { didSet { onChange() } }
  #else
    /// The newest checkout.
    public private(set) var state = CheckoutState.none { didSet { onChange() } }
    /// The purchase whose claim link the customer has opened.
    public private(set) var claim = ClaimState.none { didSet { onChange() } }
  #endif
  /// Called after each change, for screens without SwiftUI.
  public var onChange: () -> Void = {}
  /// Opens a page in the browser: `UIApplication.shared.open`, which does not return to the app.
  public var openInBrowser: (URL) -> Void = { _ in }
  /// Called with each error of a request about a checkout or a claim; ``onOutcome`` with those of posts.
  /// ``RelayError/logText`` is for your log; ``state`` and ``claim`` are for the customer.
  public var onError: (RelayError) -> Void = { _ in }
  /// Called with what became of each context, for your log.
  public var onOutcome: (CheckoutOutbox.Outcome) -> Void = { _ in }
  /// The contexts that wait for the relay.
  public let outbox: CheckoutOutbox
  /// The task that begins or follows a checkout.
  public private(set) var work: Task<Void, Never>?
  /// The task that claims a purchase.
  public private(set) var claiming: Task<Void, Never>?

  private let relay: RelayClient
  private let clock: any CheckoutClock
  private let schemes: Set<String>
  private let router: LinkRouter<SessionRoute>
  private let attributes: () -> [String: Any]
  private let reloadEntitlements: () async -> Bool
  private var userID: String
  private var isAnonymous: Bool
  private var isActive = false
  private var checkouts = OpenCheckouts() { didSet { if checkouts != oldValue { saveCheckouts() } } }
  /// Whether the stored ids were read; they cannot be before the first unlock of the device.
  private var isLoaded = false
  /// The ids of this user's checkouts that are not over, the newest last.
  public var contextIDs: [String] { checkouts.ids(of: userID) }
  /// The expired checkouts. Each is asked about once at each activation.
  private var late: Set<String> = []
  private var followed: String?
  /// The state before the relay was asked.
  private var shownBefore = CheckoutState.none
  /// The checkout whose payment `state` shows, or has shown last; nil after another begins.
  private var shownPaid: String?
  private var lastOpened: (url: URL, seconds: TimeInterval)?
  private var handOff: RedirectHandOff?

  /// Creates the app's session, and makes it ``shared``.
  /// - Parameters:
  ///   - relay: the relay's origin, whose host is also that of the app's universal links.
  ///   - app: the app's name at the relay.
  ///   - credential: how the app authenticates.
  ///   - scheme: the app's URL scheme (`CFBundleURLSchemes`).
  ///   - pages: the Payment Link of each price, for when the relay cannot be reached.
  ///   - userID: the user id in the Purchasely SDK.
  ///   - isAnonymous: whether `userID` is the SDK's anonymous one. Claims wait for a sign-in.
  ///   - attributes: `Purchasely.getBuiltInAttributes()`.
  ///   - reloadEntitlements: reloads the entitlements from the app's backend or the Purchasely SDK, and
  ///     returns whether the purchase is there. Called after Purchasely has accepted the receipt. It does not
  ///     get the price: an app with several products stores what it passed to ``buy(_:as:)``.
  @discardableResult public static func configure(
    relay: URL, app: String, credential: RelayClient.Credential, scheme: String, pages: [String: URL] = [:],
    userID: String, isAnonymous: Bool = false, attributes: @escaping () -> [String: Any],
    reloadEntitlements: @escaping () async -> Bool
  ) -> CheckoutSession {
    let client = RelayClient(relay: relay, app: app, credential: credential)
    let outbox = CheckoutOutbox(
      relay: client, pages: { pages[$0.stripePriceID] },
      onOutcome: { outcome in Task { @MainActor in shared?.note(outcome) } })
    let session = CheckoutSession(
      relay: client, outbox: outbox, schemes: [scheme], userID: userID, isAnonymous: isAnonymous,
      attributes: attributes, reloadEntitlements: reloadEntitlements)
    shared = session
    return session
  }

  /// Creates a session from its parts, for tests and for apps with several relays.
  /// - Parameters:
  ///   - relay: the client that asks for states.
  ///   - outbox: of the same client. Pass its outcomes to ``note(_:)``. The session keeps its ids in the
  ///     outbox's folder.
  ///   - schemes: the app's URL schemes.
  ///   - userID: the user id in the Purchasely SDK.
  ///   - isAnonymous: whether `userID` is the SDK's anonymous one.
  ///   - checkouts: open checkouts that the app has stored itself; the session adds its own.
  ///   - attributes: `Purchasely.getBuiltInAttributes()`.
  ///   - clock: measures the pauses.
  ///   - reloadEntitlements: returns whether the app's backend reports the purchase.
  public init(
    relay: RelayClient, outbox: CheckoutOutbox, schemes: Set<String>, userID: String,
    isAnonymous: Bool = false, checkouts: OpenCheckouts = OpenCheckouts(),
    attributes: @escaping () -> [String: Any], clock: any CheckoutClock = SystemClock(),
    reloadEntitlements: @escaping () async -> Bool
  ) {
    self.relay = relay
    self.outbox = outbox
    self.schemes = schemes
    self.userID = userID
    self.isAnonymous = isAnonymous
    self.checkouts = checkouts
    self.attributes = attributes
    self.clock = clock
    self.reloadEntitlements = reloadEntitlements
    // With the port if the relay has one, as in its links; https may omit 443.
    let hosts = [relay.relay.host, URLParts(relay.relay).authority].compactMap(\.self)
    router = LinkRouter(schemes: schemes, hosts: Set(hosts))
    loadCheckouts()
    if !contextIDs.isEmpty { state = .unchecked }
    showClaim()
  }

  // MARK: Storage

  private func loadCheckouts() {
    guard !isLoaded, let stored = outbox.openCheckouts() else { return }
    let added = checkouts
    isLoaded = true
    checkouts = stored.merging(added)
  }

  private func saveCheckouts() { if isLoaded { outbox.save(checkouts) } }

  // MARK: Users

  /// The user has signed in. Checkouts of the previous user are no longer shown.
  /// - Parameter userID: the id that `Purchasely.userLogin` got.
  public func logIn(_ userID: String) { change(to: userID, isAnonymous: false) }

  /// The user has signed out.
  /// - Parameter anonymousID: the id that the Purchasely SDK has now.
  public func logOut(to anonymousID: String) { change(to: anonymousID, isAnonymous: true) }

  private func change(to userID: String, isAnonymous: Bool) {
    work?.cancel()
    (followed, shownPaid) = (nil, nil)
    (self.userID, self.isAnonymous) = (userID, isAnonymous)
    state = contextIDs.isEmpty ? .none : .unchecked
    showClaim()
    if isActive { followNewest() }
  }

  /// Deletes everything that is stored for a user who was deleted.
  public func forget(userID: String) {
    outbox.forget(userID: userID)
    checkouts.forget(userID: userID)
  }

  // MARK: Claims

  private func showClaim() { claim = outbox.keptClaim == nil ? .none : isAnonymous ? .signIn : .ask }

  /// The customer wants the purchase in this account.
  public func addPurchase() {
    guard claim.isQuestion, let link = outbox.keptClaim else { return }
    claim = .adding
    let user = userID
    claiming = Task { [self] in
      var result: ClaimResult?
      do throws(RelayError) { result = try await outbox.claim(link, userID: user) } catch { onError(error) }
      // Another user may have signed in meanwhile.
      guard user == userID, claim == .adding else { return }
      claim = result.map(ClaimState.init) ?? .later
      if claim == .added { _ = await reloadEntitlements() }
    }
  }

  /// The customer does not want the purchase in this account.
  public func declinePurchase() {
    outbox.discardClaim()
    claim = .none
  }

  // MARK: Buying

  /// Begins a checkout and opens its page, after five seconds at most if `pages` has the price.
  /// - Parameters:
  ///   - priceID: the id of a Stripe price, or your own name for one.
  ///   - type: ``StripeObjectType/checkoutSession`` for a price that is paid once.
  public func buy(_ priceID: String, as type: StripeObjectType = .subscription) {
    loadCheckouts()
    shownPaid = nil
    state = .opening
    let context = WebCheckoutContext(
      stripePriceID: priceID, stripeObjectType: type, attributes: attributes())
    start { [self] in
      do throws(RelayError) {
        let checkout = try await outbox.begin(context, userID: userID)
        if Task.isCancelled { return }
        checkouts.add(checkout.contextID, of: userID)
        state = .inBrowser
        openInBrowser(checkout.page)
      } catch {
        if Task.isCancelled { return }
        onError(error)
        state = .notOpened(error.advice)
      }
    }
  }

  /// Follows the id under which the relay has stored a context, if it is another one; calls ``onOutcome``.
  public func note(_ outcome: CheckoutOutbox.Outcome) {
    onOutcome(outcome)
    guard case .posted(let id, let posted) = outcome, posted.contextID != id else { return }
    checkouts.replace(id, by: posted.contextID)
  }

  /// Opens the page of a payment app, and waits until ``open(_:)`` gets its redirect.
  public func pay(
    authorization: URL, redirect: URL, within seconds: TimeInterval = 300
  ) async -> RedirectHandOff.Outcome {
    let handOff = RedirectHandOff(redirect: redirect)
    self.handOff = handOff
    openInBrowser(authorization)
    return await handOff.wait(seconds: seconds)
  }

  // MARK: Links

  /// Receives a URL that opened the app: from `onOpenURL`, a scene, or a universal link's `webpageURL`. A
  /// ``WebCheckoutLink`` buys a subscription; for a price that is paid once, read the link first, and call
  /// ``buy(_:as:)``.
  /// - Returns: whether it is a link of a checkout, or a second delivery of the previous link. If not, it is
  ///   one of your own links.
  @discardableResult public func open(_ url: URL) -> Bool {
    // iOS may deliver one universal link in two ways.
    let now = clock.seconds
    if let lastOpened, lastOpened.url == url, now - lastOpened.seconds < 2 { return true }
    lastOpened = (url, now)
    if handOff?.open(url) == true { return true }
    if let link = WebCheckoutLink(url, schemes: schemes) {
      buy(link.planID)
      return true
    }
    guard router.handle(url) else { return false }
    handlePending()
    return true
  }

  /// Receives the scene's phase. An active scene asks for the state of the open checkouts.
  public func setActive(_ isActive: Bool) {
    self.isActive = isActive
    if isActive { loadCheckouts() }
    handlePending()
    if isActive {
      // The customer may return without the link, and an operator may have replayed a receipt.
      followNewest()
    } else if followed != nil {
      // iOS suspends an app in the background: ask again when it is active.
      work?.cancel()
      stopAsking()
    }
  }

  private func handlePending() {
    guard isActive else { return }
    router.activate { route in
      switch route {
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

  // MARK: Following

  /// A background push arrived: posts what waits, asks for the states once, and reloads the entitlements once
  /// for each receipt that Purchasely has accepted. It never navigates. It does not retry, because iOS gives
  /// the app 30 seconds:
  /// https://developer.apple.com/documentation/usernotifications/pushing-background-updates-to-your-app
  public func refresh() async {
    loadCheckouts()
    await outbox.flush()
    for id in await ask(contextIDs.filter { $0 != followed }, .none) { await confirm(id, isPatient: false) }
  }

  private func followNewest() { follow(contextIDs.last { !late.contains($0) }) }

  /// Asks about the other checkouts once, and about this one until it has ended or the time is up.
  private func follow(_ contextID: String?) {
    guard followed == nil, state != .opening else { return }
    start { [self] in
      await outbox.flush()
      let others = await ask(contextIDs.filter { $0 != contextID }, relay.retries)
      if let contextID, contextIDs.contains(contextID), !Task.isCancelled {
        do {
          for try await status in relay.updates(of: contextID) {
            if show(status, of: contextID) { await confirm(contextID, isPatient: true) }
          }
        } catch {
          failed(error, of: contextID)
        }
      }
      if !Task.isCancelled { stopAsking() }
      // The backend may report their entitlements late or never, and no other checkout must wait for that.
      for id in others { await confirm(id, isPatient: false) }
    }
    guard let contextID else { return }
    followed = contextID
    shownBefore = state
    state = .checking
  }

  /// Asks about each checkout once.
  /// - Returns: the ids of those whose receipts Purchasely has accepted.
  private func ask(_ contextIDs: [String], _ retries: RetryPolicy) async -> [String] {
    var accepted: [String] = []
    for id in contextIDs {
      do throws(RelayError) {
        if show(try await relay.ask(id, wait: 0, retries), of: id) { accepted.append(id) }
      } catch {
        failed(error, of: id)
        // Without a network, asking about the rest would only take time.
        if error.isTransient { break }
      }
    }
    return accepted
  }

  /// - Returns: whether Purchasely has accepted the receipt, so that the backend is to be asked.
  private func show(_ status: CheckoutStatus, of contextID: String) -> Bool {
    if Task.isCancelled || !contextIDs.contains(contextID) { return false }
    late.remove(contextID)
    switch status.progress {
    case .pending: break
    case .processing: showPaid(.processing, contextID)
    case .processed:
      showPaid(.activating, contextID)
      return true
    case .unpaid:
      // Another checkout may have been paid.
      if contextID == followed, state == .checking { state = status.state == .expired ? .late : .notPaid }
      if status.state == .expired, !status.isPaid, isRecent(contextID) {
        late.insert(contextID)
      } else {
        checkouts.remove(contextID)
      }
    }
    return false
  }

  /// Shows the payment of a checkout, unless that of a newer one is shown. Ids are in the order of time.
  private func showPaid(_ paid: CheckoutState, _ contextID: String) {
    if let shownPaid, shownPaid > contextID { return }
    shownPaid = contextID
    state = paid
  }

  /// Asks the app's backend whether it reports the purchase. The next activation asks again.
  /// - Parameter isPatient: whether to ask again for a minute.
  private func confirm(_ contextID: String, isPatient: Bool) async {
    for pause in isPatient ? [1, 2, 4, 8, 16, 32, nil] : [nil] as [TimeInterval?] {
      let isUnlocked = await reloadEntitlements()
      // Another user may have signed in meanwhile.
      if Task.isCancelled || !contextIDs.contains(contextID) { return }
      if isUnlocked {
        checkouts.remove(contextID)
        showPaid(.confirmed, contextID)
        return
      }
      guard let pause else { break }
      // A clock throws only on cancellation.
      guard (try? await clock.sleep(seconds: pause)) != nil else { return }
    }
    // A push asks only once, and the next activation again.
    if isActive, !isRecent(contextID) { checkouts.remove(contextID) }
  }

  /// Whether a checkout began in the last 30 days, for which its id is kept.
  private func isRecent(_ contextID: String) -> Bool {
    guard let begun = CheckoutID.date(of: contextID) else { return false }
    return clock.date.timeIntervalSince(begun) < 30 * 24 * 60 * 60
  }

  private func failed(_ error: any Error, of contextID: String) {
    guard !Task.isCancelled, let error = error as? RelayError else { return }
    if error != .timedOut { onError(error) }
    guard error.isUnknownContext else {
      // The customer may still pay, or have paid.
      if contextID == followed, error != .timedOut, shownBefore == .inBrowser { shownBefore = .unchecked }
      return
    }
    // The relay cannot know a context that is still to be posted.
    if outbox.pendingContextIDs.contains(contextID) { return }
    checkouts.remove(contextID)
    if contextID == followed, state == .checking { state = .unknown }
  }

  private func stopAsking() {
    followed = nil
    if state == .checking { state = shownBefore }
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

#if canImport(SwiftUI)
  extension CheckoutSession: ObservableObject {}
#endif

/// The links that a session handles itself.
private enum SessionRoute: LinkRoute {
  case checkoutReturn(CheckoutReturn)
  case claim(ClaimLink)

  init?(path: LinkPath) {
    if let back = CheckoutReturn(path: path) {
      self = .checkoutReturn(back)
    } else if let link = ClaimLink(path: path) {
      self = .claim(link)
    } else {
      return nil
    }
  }

  var path: LinkPath {
    switch self {
    case .checkoutReturn(let back): back.path
    case .claim(let link): link.path
    }
  }
}
