import CheckoutKit
import PayKit
import UIKit

/// Connects the model with Cash App's SDK. Keep it as long as the screen: PayKit holds its observers weakly.
@MainActor final class CashAppScreen {
  private let model: CashAppModel
  private let cashApp: CashAppPay
  /// The request that waits for the customer's tap.
  private var request: CustomerRequest?

  /// - Parameter environment: that of the relay and of `CashAppPayment`.
  init(_ model: CashAppModel, _ environment: CashAppPayment.Environment) {
    self.model = model
    cashApp = CashAppPay(
      clientID: environment.clientID, endpoint: environment == .sandbox ? .sandbox : .production)
    cashApp.addObserver(self)
    model.createRequest = { [weak self] order, redirect in self?.create(order, redirect) }
    model.openCashApp = { [weak self] in self?.open() }
    model.passRedirect = { url in
      NotificationCenter.default.post(
        name: CashAppPay.RedirectNotification, object: nil,
        userInfo: [UIApplication.LaunchOptionsKey.url: url])
    }
  }

  private func create(_ order: SignedCashAppOrder, _ redirect: URL) {
    let payment = PaymentAction.oneTimePayment(
      scopeID: order.brandID, money: Money(amount: order.cents, currency: .USD))
    cashApp.createCustomerRequest(
      params: CreateCustomerRequestParams(
        actions: [payment], redirectURL: redirect, referenceID: nil, metadata: nil))
  }

  private func open() {
    guard let request else { return model.report(.failed(.unexpected)) }
    cashApp.authorizeCustomerRequest(request)
  }
}

/// PayKit calls it on the main queue.
extension CashAppScreen: @preconcurrency CashAppPayObserver {
  func stateDidChange(to state: CashAppPayState) {
    switch state {
    case .readyToAuthorize(let request):
      self.request = request
      model.report(.ready)
    case .approved(_, let grants):
      let active = grants.first { $0.status == .ACTIVE }
      model.report(
        active.map { .approved(CashAppModel.Grant(id: $0.id, customerID: $0.customerID)) } ?? .declined)
    case .declined: model.report(.declined)
    // Cash App has an outage.
    case .apiError: model.report(.failed(.api))
    // The app is wrong: its brand, a value, or too many requests. Log it.
    case .integrationError: model.report(.failed(.integration))
    case .networkError: model.report(.failed(.network))
    // Log it, and report it to Cash App.
    case .unexpectedError: model.report(.failed(.unexpected))
    // `refreshing` is followed by `redirecting`. PayKit begins to poll by itself when the app is in front
    // again, so an approval needs no redirect.
    case .notStarted, .creatingCustomerRequest, .updatingCustomerRequest, .redirecting, .refreshing, .polling:
      break
    }
  }
}

/// A checkout with the button of Cash App Pay.
final class CashAppController: UIViewController {
  private let model: CashAppModel
  private let screen: CashAppScreen
  private let message = UILabel()
  private lazy var button = UIButton(
    primaryAction: UIAction(title: "Cash App Pay") { [weak self] _ in self?.tap() })

  init(_ model: CashAppModel, _ environment: CashAppPayment.Environment) {
    self.model = model
    screen = CashAppScreen(model, environment)
    super.init(nibName: nil, bundle: nil)
  }

  required init?(coder: NSCoder) { nil }

  /// The request is made when the screen appears, so that the tap opens Cash App at once.
  override func viewDidLoad() {
    super.viewDidLoad()
    view.addSubview(UIStackView(arrangedSubviews: [message, button]))
    model.onChange = { [weak self] in self?.show($0) }
    show(model.state)
    prepare()
  }

  private func prepare() {
    Task { [model] in await model.prepare(price: "gold-yearly", email: "jane@example.com") }
  }

  private func show(_ state: CashAppModel.State) {
    message.text = state.message
    button.isHidden =
      switch state {
      case .ready, .notPaid, .notOpened: false
      default: true
      }
  }

  /// After a failure the first tap makes a new request.
  private func tap() {
    guard model.state == .ready else { return prepare() }
    Task { [model] in await model.pay() }
  }
}
