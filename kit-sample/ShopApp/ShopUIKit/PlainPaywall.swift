import CheckoutKit
import UIKit

/// The kit without a model: one call with a completion handler for each tap.
@MainActor final class PlainPaywall {
  private let outbox: CheckoutOutbox
  private var call: CheckoutTask?
  /// Stores the checkout's id for the screen that the customer comes back to.
  var keep: (String) -> Void = { _ in }
  /// Shows what the customer can do.
  var show: (RelayError.Advice) -> Void = { _ in }

  init(outbox: CheckoutOutbox) { self.outbox = outbox }

  func buy(price: String, userID: String) {
    call?.cancel()
    call = outbox.begin(WebCheckoutContext(stripePriceID: price), userID: userID) {
      [weak self] result in
      switch result {
      case .success(let checkout):
        self?.keep(checkout.contextID)
        UIApplication.shared.open(checkout.page)
      case .failure(.cancelled): break
      case .failure(let error): self?.show(error.advice)
      }
    }
  }
}
