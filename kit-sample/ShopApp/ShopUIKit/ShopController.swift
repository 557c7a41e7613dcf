import CheckoutKit
import UIKit

/// A paywall with one button.
final class ShopController: UIViewController {
  private let model: ShopModel
  private let label = UILabel()

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
    let stack = UIStackView(arrangedSubviews: [button, label])
    stack.axis = .vertical
    stack.frame = view.bounds
    view.addSubview(stack)
    model.onChange = { [weak self] state in self?.label.text = state.checkout.message }
    label.text = model.state.checkout.message
  }
}
