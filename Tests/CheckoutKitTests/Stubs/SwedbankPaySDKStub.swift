// The declarations of Swedbank Pay's SDK that the sample uses, without bodies. Signatures are those of
// https://github.com/SwedbankPay/swedbank-pay-sdk-ios at 0eb99af: SwedbankPaySDKController.swift,
// PaymentOrder.swift, Configuration.swift.

import Foundation
import UIKit

public final class SwedbankPaySDK {}

public protocol SwedbankPaySDKConfiguration {}

public protocol SwedbankPaySDKDelegate: AnyObject {
  func shippingAddressIsKnown()
  func instrumentSelected()
  func paymentOrderDidShow(info: SwedbankPaySDK.ViewPaymentOrderInfo)
  func paymentOrderDidHide()
  func updatePaymentOrderFailed(updateInfo: Any, error: any Error)
  func paymentComplete()
  func paymentCanceled()
  func paymentFailed(error: any Error)
  func overrideTermsOfServiceTapped(url: URL) -> Bool
  func javaScriptEvent(name: String, arguments: [String: Any])
}

extension SwedbankPaySDKDelegate {
  public func shippingAddressIsKnown() {}
  public func instrumentSelected() {}
  public func paymentOrderDidShow(info: SwedbankPaySDK.ViewPaymentOrderInfo) {}
  public func paymentOrderDidHide() {}
  public func updatePaymentOrderFailed(updateInfo: Any, error: any Error) {}
  public func overrideTermsOfServiceTapped(url: URL) -> Bool { false }
  public func javaScriptEvent(name: String, arguments: [String: Any]) {}
}

open class SwedbankPaySDKController: UIViewController {
  public weak var delegate: (any SwedbankPaySDKDelegate)?

  public init(
    configuration: any SwedbankPaySDKConfiguration, withCheckin: Bool, consumer: SwedbankPaySDK.Consumer?,
    paymentOrder: SwedbankPaySDK.PaymentOrder?, userData: Any?
  ) {
    super.init(nibName: nil, bundle: nil)
  }

  public required init?(coder: NSCoder) { super.init(coder: coder) }
}

extension SwedbankPaySDK {
  public struct ViewPaymentOrderInfo {}

  public struct WhitelistedDomain {}

  public struct Consumer {}

  public enum Language: String {
    case English = "en-US"
    case Norwegian = "nb-NO"
    case Swedish = "sv-SE"
  }

  public struct PayeeInfo {
    public init() {}
  }

  public struct PaymentOrderUrls {
    public init(
      hostUrls: [URL], completeUrl: URL, cancelUrl: URL? = nil, paymentUrl: URL? = nil,
      callbackUrl: URL? = nil,
      termsOfServiceUrl: URL? = nil
    ) {}
  }

  public struct PaymentOrder {
    public init(
      isV3: Bool = false, currency: String, amount: Int64, vatAmount: Int64, description: String,
      language: Language = .English, urls: PaymentOrderUrls, payeeInfo: PayeeInfo = .init()
    ) {}
  }

  public static func open(url: URL) -> Bool { false }
  public static func `continue`(userActivity: NSUserActivity) -> Bool { false }
}
