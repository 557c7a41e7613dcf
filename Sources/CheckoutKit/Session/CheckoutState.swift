// The states that a session shows. Pure; thread-safe.

/// What a screen shows of the customer's checkout. No case can carry a server's text.
public enum CheckoutState: Sendable, Hashable {
  /// There is no checkout.
  case none
  /// The context is being posted.
  case opening
  /// There is no page to open. Nothing was charged.
  case notOpened(RelayError.Advice)
  /// The checkout page is open in the browser.
  case inBrowser
  /// The relay is being asked about the payment.
  case checking
  /// The relay could not be reached, or has not been asked with success since the launch. The customer may
  /// have paid.
  case unchecked
  /// Paid; Purchasely has not accepted the receipt yet.
  case processing
  /// Paid, and Purchasely has accepted the receipt. The app's backend does not report the entitlement yet.
  case activating
  /// Paid, and the app's backend reports the entitlement.
  case confirmed
  /// The checkout ended without a payment.
  case notPaid
  /// The checkout expired without a payment. A payment may still arrive.
  case late
  /// The relay does not know the checkout, or has deleted it.
  case unknown
}
