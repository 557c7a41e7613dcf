import CheckoutKit
import Foundation

/// Pays with Swedbank Pay; the views show its state.
@MainActor final class SwedbankModel {
  /// The state as shown to the customer. No case can carry a server's text.
  enum State: Equatable {
    case none
    case preparing
    /// The payment could not be prepared, and nothing was charged.
    case notOpened(RelayError.Advice)
    case paying
    case checking
    /// The relay could not be reached to check the payment.
    case unchecked
    /// Paid; Purchasely has not accepted the receipt yet.
    case processing
    /// Paid, and Purchasely has accepted the receipt. Your backend does not report the purchase yet.
    case activating
    /// Your backend reports the purchase.
    case bought
    /// Not paid. A payment that the customer began in a bank's app may still come.
    case notPaid

    /// In your app: in your customers' languages.
    var message: String? {
      switch self {
      case .none, .paying: nil
      case .preparing: "Opening the payment."
      case .notOpened(.checkConnection): "There is no connection. Check it and try again."
      case .notOpened(.tryAgain): "The payment cannot be opened right now. Try again in a moment."
      case .notOpened(.contactSupport): "The payment cannot be opened at the moment."
      case .checking: "Looking for your payment."
      case .unchecked: "We could not check your payment yet. If you have paid, do not pay again."
      case .processing: "Thank you! You have paid, and your purchase is being processed. Do not pay again."
      case .activating: "Thank you! We received your payment and are activating your purchase."
      case .bought: "Your purchase is ready. Enjoy!"
      case .notPaid: "No payment has come yet, so nothing was bought."
      }
    }
  }

  /// How Swedbank Pay's SDK ended. It proves nothing: the relay asks Swedbank Pay itself.
  enum End {
    case complete
    case cancelled
  }

  private(set) var state = State.none { didSet { onChange(state) } }
  var onChange: (State) -> Void = { _ in }
  /// Shows the payment with Swedbank Pay's SDK, given `backendUrl` and `headers`, until it has ended.
  var showPayment: (URL, [String: String]) async -> End = { _, _ in .cancelled }
  /// Reloads the entitlements from your backend, and returns whether the purchase is there.
  var reloadEntitlements: () async -> Bool = { false }
  /// Stores the unfinished payments for the next launch.
  var keepCheckouts: (OpenCheckouts) -> Void = { _ in }

  private let relay: RelayClient
  /// Another user gets another model.
  private let userID: String
  private let attributes: () -> [String: Any]
  /// A context's id is kept until your backend reports the purchase or it has ended without a payment.
  private var checkouts: OpenCheckouts { didSet { if checkouts != oldValue { keepCheckouts(checkouts) } } }

  /// - Parameters:
  ///   - attributes: `Purchasely.getBuiltInAttributes()`.
  ///   - checkouts: what `keepCheckouts` stored, for whichever user.
  init(
    relay: RelayClient, userID: String, attributes: @escaping () -> [String: Any],
    checkouts: OpenCheckouts = OpenCheckouts()
  ) {
    self.relay = relay
    self.userID = userID
    self.attributes = attributes
    self.checkouts = checkouts
  }

  /// The customer chose a plan.
  func buy(planID: String) async {
    state = .preparing
    let contextID: String
    let end: End
    do throws(RelayError) {
      let context = WebCheckoutContext(stripePriceID: planID, attributes: attributes())
      contextID = try await relay.post(context, userID: userID).contextID
      let payment = SwedbankPayment(relay: relay, userID: userID, contextID: contextID)
      let (backendURL, headers) = try await (payment.backendURL, payment.headers())
      checkouts.add(contextID, of: userID)
      state = .paying
      end = await showPayment(backendURL, headers)
    } catch {
      // Log `error.logText` here if you need it.
      state = .notOpened(error.advice)
      return
    }
    state = .checking
    // After a cancellation one look is enough: the payment usually does not exist.
    await check(contextID, within: end == .complete ? 60 : 0)
  }

  /// The app came to the front: a payment may have come meanwhile.
  func resume() async {
    var isKnown = true
    for contextID in checkouts.ids(of: userID) { isKnown = await check(contextID, within: 0) && isKnown }
    if isKnown, state == .unchecked { state = .notPaid }
  }

  /// - Returns: false if nothing is known of the payment.
  @discardableResult private func check(_ contextID: String, within seconds: TimeInterval) async -> Bool {
    let payment = SwedbankPayment(relay: relay, userID: userID, contextID: contextID)
    do {
      if seconds > 0 {
        for try await status in try payment.updates(within: seconds) { await show(status) }
      } else {
        await show(try await payment.status())
      }
    } catch let error as RelayError where error.isUnknownContext {
      // The relay deletes contexts after a long time. Any other 404 is not the relay's.
      checkouts.remove(contextID)
    } catch {
      // A failure says nothing about the payment.
      if state == .checking { state = .unchecked }
      return false
    }
    if state == .checking { state = .unchecked }
    return true
  }

  private func show(_ status: CheckoutStatus) async {
    switch status.progress {
    case .pending: if state == .checking { state = .notPaid }
    case .processing: state = .processing
    case .processed:
      state = .activating
      // Purchasely processes a receipt after it has accepted it: if it is too early, `resume` asks again.
      let isUnlocked = await reloadEntitlements()
      if isUnlocked { state = .bought }
      discard(status.contextID, isOver: isUnlocked)
    case .unpaid:
      if state == .checking { state = .notPaid }
      // An expired payment may still come.
      discard(status.contextID, isOver: status.state != .expired)
    }
  }

  /// Discards the id of a payment that is over, or that began more than 30 days ago.
  private func discard(_ contextID: String, isOver: Bool) {
    let begun = CheckoutID.date(of: contextID) ?? .distantPast
    if isOver || begun + 30 * 24 * 60 * 60 < Date() { checkouts.remove(contextID) }
  }
}
