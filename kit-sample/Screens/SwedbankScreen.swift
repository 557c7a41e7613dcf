import CheckoutKit
import SwedbankPaySDK
import SwedbankPaySDKMerchantBackend
import UIKit

/// Shows Swedbank Pay's view controller until the payment has ended.
@MainActor final class SwedbankScreen {
  private var ended: CheckedContinuation<SwedbankModel.End, Never>?

  /// The model's `showPayment`.
  func show(
    _ backendURL: URL, _ headers: [String: String], over presenter: UIViewController,
    order: (SwedbankPaySDK.MerchantBackendConfiguration) -> SwedbankPaySDK.PaymentOrder
  ) async -> SwedbankModel.End {
    let configuration = SwedbankPaySDK.MerchantBackendConfiguration(
      backendUrl: backendURL, callbackScheme: "exampleapp", headers: headers)
    let controller = SwedbankPaySDKController(
      configuration: configuration, withCheckin: false, consumer: nil, paymentOrder: order(configuration),
      userData: nil)
    // Only the SDK ends the payment, not a swipe.
    controller.isModalInPresentation = true
    let end = await withCheckedContinuation { continuation in
      ended = continuation
      controller.delegate = self
      presenter.present(controller, animated: true)
    }
    controller.dismiss(animated: true)
    return end
  }

  /// An order of one piece of the relay's price `gold-yearly`: the relay refuses any other amount, and adds
  /// the order item.
  static func goldYearly(
    _ configuration: SwedbankPaySDK.MerchantBackendConfiguration
  ) -> SwedbankPaySDK.PaymentOrder {
    SwedbankPaySDK.PaymentOrder(
      currency: "SEK", amount: 5999, vatAmount: 1200, description: "Gold for a year",
      urls: SwedbankPaySDK.PaymentOrderUrls(configuration: configuration, language: .English))
  }

  private func finish(_ end: SwedbankModel.End) {
    ended?.resume(returning: end)
    ended = nil
  }
}

extension SwedbankScreen: @preconcurrency SwedbankPaySDKDelegate {
  func paymentComplete() { finish(.complete) }
  func paymentCanceled() { finish(.cancelled) }
  func paymentFailed(error: any Error) { finish(.cancelled) }
}
