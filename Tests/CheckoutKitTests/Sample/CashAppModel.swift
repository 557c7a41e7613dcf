import CheckoutKit
import Foundation

/// Pays with Cash App Pay; the views show its state.
@MainActor final class CashAppModel {
  /// The state as shown to the customer. No case can carry a server's text.
  enum State: Equatable {
    case none
    case preparing
    /// The button can be tapped.
    case ready
    /// The payment could not be prepared, and nothing was charged.
    case notOpened(RelayError.Advice)
    /// Cash App Pay does not work at the moment: the button is hidden. Nothing was charged.
    case unavailable
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
      case .none, .preparing, .ready: nil
      case .notOpened(.checkConnection): "There is no connection. Check it and try again."
      case .notOpened(.tryAgain): "Cash App Pay is not available right now. Try again in a moment."
      case .notOpened(.contactSupport), .unavailable:
        "Cash App Pay is not available at the moment. Choose another way to pay."
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
  struct Grant: Equatable {
    let id: String
    let customerID: String
  }

  /// What Cash App's SDK reports.
  enum Event: Equatable {
    /// The request was created, and waits for the customer's tap.
    case ready
    case approved(Grant)
    case declined
    case failed(Failure)

    enum Failure {
      /// Cash App has an outage. Its SDK asks apps to hide the button for a while.
      case api
      /// The app uses it wrongly: an unknown brand, a refused value.
      case integration
      case network
      /// Cash App wants to know of these.
      case unexpected
    }
  }

  /// Where Cash App leads back to. It is the app's own, which iOS opens the app for: the redirect URL that
  /// Afterpay signed leads to Afterpay.
  static let redirect = "exampleapp://cash-app"
  /// How long a customer may take in Cash App, in seconds.
  static let patience: TimeInterval = 600

  private(set) var state = State.none { didSet { onChange(state) } }
  var onChange: (State) -> Void = { _ in }
  /// Creates a request with Cash App's SDK, for the order's cents, the order's brand and this redirect URL.
  var createRequest: (SignedCashAppOrder, URL) -> Void = { _, _ in }
  /// Opens Cash App for the request.
  var openCashApp: () -> Void = {}
  /// Passes the redirect to Cash App's SDK, which then asks whether the customer approved.
  var passRedirect: (URL) -> Void = { _ in }
  /// Stores the tokens whose outcome is not known for the next launch, under the user of `afterpay`.
  var keepTokens: ([String]) -> Void = { _ in }

  private let afterpay: AfterpayCheckout
  private let cashApp: CashAppPayment
  private let clock: any CheckoutClock
  private var payment: (token: String, order: SignedCashAppOrder)?
  private var handOff: RedirectHandOff?
  /// The payment that waits for the customer's decision in Cash App.
  private var decision: CheckedContinuation<Event?, Never>?
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

  /// The checkout's screen appears: starts the payment, so that the tap opens Cash App at once. Nothing is
  /// charged before the capture.
  func prepare(price: String, email: String) async {
    // While the outcome of a payment is not known, a second one could charge twice.
    guard !isBusy, state != .preparing, state != .unchecked, let redirect = URL(string: Self.redirect) else {
      return
    }
    (state, payment) = (.preparing, nil)
    do {
      let token = try await afterpay.start(price: price, email: email, isCashAppPay: true).token
      let order = try await cashApp.sign(token)
      payment = (token, order)
      createRequest(order, redirect)
    } catch let error as RelayError {
      // Log `error.logText` here if you need it.
      state = .notOpened(error.advice)
    } catch let error as CashAppError {
      state = .notOpened(error.advice)
    } catch {
      state = .notOpened(.contactSupport)
    }
  }

  /// The customer tapped the button.
  func pay() async {
    guard state == .ready, let payment, let redirect = URL(string: Self.redirect) else { return }
    self.payment = nil
    state = .inCashApp
    handOff = RedirectHandOff(redirect: redirect, clock: clock)
    switch await decide() {
    case .approved(let grant)?: await capture(payment.token, payment.order, grant)
    case .declined?, .ready?: state = .notPaid
    case .failed(let failure)?: show(failure)
    case nil:
      // No decision came in time. Nothing was captured here; the relay knows whether anything was.
      tokens.append(payment.token)
      state = .unchecked
      await resume()
    }
  }

  /// Cash App's SDK reports a change.
  func report(_ event: Event) {
    if let decision {
      if event == .ready { return }
      self.decision = nil
      return decision.resume(returning: event)
    }
    // A grant that comes after the time is up is not used, and expires.
    guard state == .preparing || state == .ready else { return }
    switch event {
    case .ready: if payment != nil { state = .ready }
    case .failed(let failure): show(failure)
    case .approved, .declined: break
    }
  }

  /// The customer came back without a decision and does not want to wait for one; or the time is up.
  func cancel() {
    decision?.resume(returning: nil)
    decision = nil
  }

  /// A URL opened the app.
  /// - Returns: whether it was the way back from Cash App.
  func open(_ url: URL) -> Bool {
    guard decision != nil, handOff?.open(url) == true else { return false }
    passRedirect(url)
    return true
  }

  /// Opens Cash App and waits.
  /// - Returns: nil when the time is up.
  private func decide() async -> Event? {
    let timer = Task { [clock] in
      guard (try? await clock.sleep(seconds: Self.patience)) != nil else { return }
      cancel()
    }
    defer { timer.cancel() }
    return await withCheckedContinuation { continuation in
      decision = continuation
      openCashApp()
    }
  }

  private func capture(_ token: String, _ order: SignedCashAppOrder, _ grant: Grant) async {
    state = .capturing
    do throws(CashAppError) {
      try await cashApp.validate(order, grantID: grant.id, customerID: grant.customerID)
    } catch {
      state = .notOpened(error.advice)
      return
    }
    tokens.append(token)
    show(await afterpay.capture(token, grantID: grant.id), token)
  }

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

  private var isBusy: Bool { [.inCashApp, .capturing].contains(state) }

  /// Nothing was charged.
  private func show(_ failure: Event.Failure) {
    payment = nil
    state =
      switch failure {
      case .api: .unavailable
      case .integration: .notOpened(.contactSupport)
      case .network: .notOpened(.checkConnection)
      case .unexpected: .notOpened(.tryAgain)
      }
  }

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
