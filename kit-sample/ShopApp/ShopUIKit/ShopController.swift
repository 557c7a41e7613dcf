import CheckoutKit
import UIKit

/// A paywall with one button.
final class ShopController: UIViewController {
  private let checkout: CheckoutSession
  private let label = UILabel()
  /// The answers to "Add this purchase to your account?".
  private var answers: [UIButton] = []

  init(checkout: CheckoutSession) {
    self.checkout = checkout
    super.init(nibName: nil, bundle: nil)
  }

  @available(*, unavailable)
  required init?(coder: NSCoder) { nil }

  override func viewDidLoad() {
    super.viewDidLoad()
    let button = UIButton(
      primaryAction: UIAction(title: "Buy in the browser") { [checkout] _ in
        checkout.buy("price_1MbK")
      })
    label.numberOfLines = 0
    answers = [
      UIButton(primaryAction: UIAction(title: "Add the purchase") { [checkout] _ in checkout.addPurchase() }),
      UIButton(primaryAction: UIAction(title: "Not now") { [checkout] _ in checkout.declinePurchase() }),
    ]
    let stack = UIStackView(arrangedSubviews: [button, label] + answers)
    stack.axis = .vertical
    stack.frame = view.bounds
    view.addSubview(stack)
    checkout.onChange = { [weak self] in self?.show() }
    show()
  }

  private func show() {
    label.text = [checkout.state.message, checkout.claim.message].compactMap(\.self).joined(separator: "\n")
    for answer in answers { answer.isHidden = !checkout.claim.isQuestion }
  }
}
