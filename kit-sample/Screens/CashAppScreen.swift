import CheckoutKit
import PayKit
import UIKit

/// Asks for the customer's approval in Cash App.
@MainActor final class CashAppScreen {
  private let cashApp = CashAppPay(clientID: CashAppPayment.Environment.production.clientID)
  private var opened: CheckedContinuation<Bool, Never>?
  private var approved: CheckedContinuation<CashAppModel.Grant?, Never>?
  /// The customer's decision, and nil before it. It may come before anyone waits for it.
  private var decision: CashAppModel.Grant??

  init() { cashApp.addObserver(self) }

  /// The model's `openCashApp`.
  func open(_ order: SignedCashAppOrder, _ redirect: URL) async -> Bool {
    decision = nil
    let payment = PaymentAction.oneTimePayment(
      scopeID: order.brandID, money: Money(amount: order.cents, currency: .USD))
    return await withCheckedContinuation { continuation in
      opened = continuation
      cashApp.createCustomerRequest(
        params: CreateCustomerRequestParams(
          actions: [payment], redirectURL: redirect, referenceID: nil, metadata: nil))
    }
  }

  /// The model's `approvedGrant`.
  func grant(after url: URL) async -> CashAppModel.Grant? {
    if let decision { return decision }
    return await withCheckedContinuation { continuation in
      approved = continuation
      NotificationCenter.default.post(
        name: CashAppPay.RedirectNotification, object: nil,
        userInfo: [UIApplication.LaunchOptionsKey.url: url])
    }
  }

  private func decide(_ grant: CashAppModel.Grant?) {
    decision = .some(grant)
    opened?.resume(returning: false)
    approved?.resume(returning: grant)
    (opened, approved) = (nil, nil)
  }
}

extension CashAppScreen: @preconcurrency CashAppPayObserver {
  func stateDidChange(to state: CashAppPayState) {
    switch state {
    case .readyToAuthorize(let request): if opened != nil { cashApp.authorizeCustomerRequest(request) }
    case .redirecting:
      opened?.resume(returning: true)
      opened = nil
    case .approved(_, let grants):
      let active = grants.first { $0.status == .ACTIVE }
      decide(active.map { CashAppModel.Grant(id: $0.id, customerID: $0.customerID) })
    case .declined, .apiError, .integrationError, .networkError, .unexpectedError: decide(nil)
    case .notStarted, .creatingCustomerRequest, .updatingCustomerRequest, .polling: break
    }
  }
}
