// The declarations of the second product of Swedbank Pay's package that the sample uses, without bodies.
// Signatures are those of https://github.com/SwedbankPay/swedbank-pay-sdk-ios at 0eb99af:
// MerchantBackendConfiguration.swift, PaymentOrderExtensions.swift.

import Foundation
import SwedbankPaySDK

extension SwedbankPaySDK {
  public struct PinPublicKeys {}

  public struct MerchantBackendConfiguration: SwedbankPaySDKConfiguration {
    public init(
      backendUrl: URL, callbackScheme: String? = nil, headers: [String: String]?,
      domainWhitelist: [WhitelistedDomain]? = nil, pinPublicKeys: [PinPublicKeys]? = nil
    ) {}
  }
}

extension SwedbankPaySDK.PaymentOrderUrls {
  public init(
    configuration: SwedbankPaySDK.MerchantBackendConfiguration, language: SwedbankPaySDK.Language,
    callbackUrl: URL? = nil, termsOfServiceUrl: URL? = nil, identifier: String = UUID().uuidString
  ) {
    self.init(hostUrls: [], completeUrl: URL(fileURLWithPath: "/"))
  }
}
