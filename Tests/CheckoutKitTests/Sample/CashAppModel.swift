import CheckoutKit
import Foundation

/// Pays with Cash App Pay; the views show its state.
@MainActor final class CashAppModel {
  /// The state as shown to the customer. No case can carry a server's text.
  enum State: Equatable {
    case none
    case preparing
    /// The payment could not be prepared, and nothing was charged.
    case notOpened(RelayError.Advice)
    /// The customer confirms in Cash App.
    case inCashApp
    case capturing
    /// The money was received.
    case paid
    case notPaid
    /// The customer may have been charged.
    case unchecked
    /// The relay no longer knows the payment, or could not find out whether it was charged.
    case unknown

    /// In your app: in your customers' languages.
    var message: String? {
      switch self {
      case .none: nil
      case .preparing: "Opening Cash App."
      case .notOpened(.checkConnection): "There is no connection. Check it and try again."
      case .notOpened(.tryAgain): "Cash App Pay is not available right now. Try again in a moment."
      case .notOpened(.contactSupport): "Cash App Pay is not available at the moment."
      case .inCashApp: "Confirm the payment in Cash App."
      case .capturing: "Completing your payment."
      case .paid: "Thank you! You have paid, and your purchase is being unlocked. Do not pay again."
      case .notPaid: "Nothing was charged, so nothing was bought."
      case .unchecked: "We could not check your payment yet. Do not pay again before we have."
      case .unknown: "We could not find out about this payment. If you have paid, contact our support."
      }
    }
  }

  /// An approved grant of Cash App's SDK.
  struct Grant {
    let id: String
    let customerID: String
  }

  /// Where Cash App leads back to.
  static let redirect = "exampleapp://cash-app"

  private(set) var state = State.none { didSet { onChange(state) } }
  var onChange: (State) -> Void = { _ in }
  /// Opens Cash App with its SDK, for the order's cents, the order's brand and this redirect URL. Returns
  /// whether it opened.
  var openCashApp: (SignedCashAppOrder, URL) async -> Bool = { _, _ in false }
  /// Passes the redirect to Cash App's SDK, and returns the grant; nil when the customer declined.
  var approvedGrant: (URL) async -> Grant? = { _ in nil }
  /// Stores the tokens whose outcome is not known for the next launch, under the user of `afterpay`.
  var keepTokens: ([String]) -> Void = { _ in }

  private let afterpay: AfterpayCheckout
  private let cashApp: CashAppPayment
  private let clock: any CheckoutClock
  private var handOff: RedirectHandOff?
  /// A token is kept from the capture until its outcome is known.
  private var tokens: [String] { didSet { if tokens != oldValue { keepTokens(tokens) } } }

  /// - Parameter tokens: those that `keepTokens` stored for this user. Another user gets another model, which
  ///   shows nothing of this one's payments.
  init(
    afterpay: AfterpayCheckout, cashApp: CashAppPayment, tokens: [String] = [],
    clock: any CheckoutClock = SystemClock()
  ) {
    self.afterpay = afterpay
    self.cashApp = cashApp
    self.tokens = tokens
    self.clock = clock
    if !tokens.isEmpty { state = .unchecked }
  }

  /// The customer chose Cash App Pay. Nothing is charged before the capture.
  func buy(price: String, email: String) async {
    // While the outcome of a payment is not known, a second one could charge twice.
    guard !isBusy, state != .unchecked, let redirect = URL(string: Self.redirect) else { return }
    state = .preparing
    do {
      let token = try await afterpay.start(price: price, email: email, isCashAppPay: true).token
      let order = try await cashApp.sign(token)
      let handOff = RedirectHandOff(redirect: redirect, clock: clock)
      self.handOff = handOff
      guard await openCashApp(order, redirect) else {
        state = .notOpened(.tryAgain)
        return
      }
      state = .inCashApp
      guard case .redirected(let url) = await handOff.wait(seconds: 600),
        let grant = await approvedGrant(url)
      else {
        state = .notPaid
        return
      }
      state = .capturing
      try await cashApp.validate(order, grantID: grant.id, customerID: grant.customerID)
      tokens.append(token)
      show(await afterpay.capture(token, grantID: grant.id), token)
    } catch let error as RelayError {
      // Log `error.logText` here if you need it.
      state = .notOpened(error.advice)
    } catch let error as CashAppError {
      state = .notOpened(error.advice)
    } catch {
      state = .notOpened(.contactSupport)
    }
  }

  /// A URL opened the app.
  /// - Returns: whether it was the way back from Cash App.
  func open(_ url: URL) -> Bool { handOff?.open(url) ?? false }

  /// The app came to the front: asks about payments whose outcome is not known.
  func resume() async {
    guard !isBusy else { return }
    var isKnown = true
    for token in tokens {
      do {
        let status = try await afterpay.status(of: token)
        if status.progress.isOver { tokens.removeAll { $0 == token } }
        if status.progress == .paid { state = .paid }
        if status.progress == .unresolved { state = .unknown }
        if status.progress == .processing { isKnown = false }
      } catch  where error.isUnknownCheckout {
        tokens.removeAll { $0 == token }
        state = .unknown
      } catch {
        // A failure says nothing about the payment.
        isKnown = false
      }
    }
    if isKnown, state == .unchecked { state = .notPaid }
  }

  private var isBusy: Bool { [.preparing, .inCashApp, .capturing].contains(state) }

  private func show(_ outcome: AfterpayOutcome, _ token: String) {
    switch outcome {
    case .captured:
      tokens.removeAll { $0 == token }
      state = .paid
    case .notCharged(let status, _):
      if status.progress.isOver { tokens.removeAll { $0 == token } }
      state = .notPaid
    case .unknown: state = .unchecked
    }
  }
}
