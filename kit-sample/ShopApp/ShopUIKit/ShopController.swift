import CheckoutKit
import UIKit

/// A paywall with one button.
final class ShopController: UIViewController {
  private let model: ShopModel
  private let label = UILabel()
  /// The answers to "Add this purchase to your account?".
  private var answers: [UIButton] = []

  init(model: ShopModel) {
    self.model = model
    super.init(nibName: nil, bundle: nil)
  }

  @available(*, unavailable)
  required init?(coder: NSCoder) { nil }

  override func viewDidLoad() {
    super.viewDidLoad()
    let button = UIButton(
      primaryAction: UIAction(title: "Buy in the browser") { [model] _ in
        model.buy(planID: "price_1MbK…")
      })
    label.numberOfLines = 0
    answers = [
      UIButton(primaryAction: UIAction(title: "Add the purchase") { [model] _ in model.addPurchase() }),
      UIButton(primaryAction: UIAction(title: "Not now") { [model] _ in model.declinePurchase() }),
    ]
    let stack = UIStackView(arrangedSubviews: [button, label] + answers)
    stack.axis = .vertical
    stack.frame = view.bounds
    view.addSubview(stack)
    model.onChange = { [weak self] state in self?.show(state) }
    show(model.state)
  }

  private func show(_ state: ShopModel.State) {
    let messages = [state.checkout.message, state.claim.message].compactMap { $0 }
    label.text = messages.joined(separator: "\n")
    for answer in answers { answer.isHidden = !state.claim.isQuestion }
  }
}
