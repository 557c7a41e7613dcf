// The declarations of Cash App's SDK that the sample uses, without bodies. Signatures are those of
// https://github.com/cashapp/cash-app-pay-ios-sdk at bf6eba6: CashAppPay.swift, CustomerRequest.swift,
// Errors.swift.

import Foundation

public class CashAppPay {
  public static let RedirectNotification = Notification.Name("CashAppPayRedirect")

  public enum Endpoint {
    case production
    case sandbox
    case staging
  }

  public convenience init(clientID: String, endpoint: Endpoint = .production) { self.init() }
  private init() {}

  public func createCustomerRequest(params: CreateCustomerRequestParams) {}

  public enum AuthorizationMethod {
    case DEEPLINK
  }

  public func authorizeCustomerRequest(_ request: CustomerRequest, method: AuthorizationMethod = .DEEPLINK) {}
}

public enum CashAppPayState: Equatable {
  case notStarted
  case creatingCustomerRequest(CreateCustomerRequestParams)
  case updatingCustomerRequest(request: CustomerRequest, params: UpdateCustomerRequestParams)
  case readyToAuthorize(CustomerRequest)
  case redirecting(CustomerRequest)
  case polling(CustomerRequest)
  case declined(CustomerRequest)
  case approved(request: CustomerRequest, grants: [CustomerRequest.Grant])
  case refreshing(CustomerRequest)
  case apiError(APIError)
  case integrationError(IntegrationError)
  case networkError(NetworkError)
  case unexpectedError(UnexpectedError)
}

public protocol CashAppPayObserver: AnyObject {
  func stateDidChange(to state: CashAppPayState)
}

extension CashAppPay {
  public func addObserver(_ observer: any CashAppPayObserver) {}
  public func removeObserver(_ observer: any CashAppPayObserver) {}
}

// MARK: Requests

public struct CreateCustomerRequestParams: Equatable {
  public init(
    actions: [PaymentAction], channel: Channel = .IN_APP, redirectURL: URL, referenceID: String?,
    metadata: [String: String]?
  ) {}
}

public struct UpdateCustomerRequestParams: Equatable {}

public struct CustomerRequest: Equatable {
  public let id: String

  public struct Grant: Equatable {
    public let id: String
    public let customerID: String

    public enum Status: String, Equatable {
      case ACTIVE
      case EXPIRED
      case CONSUMED
      case REVOKED
    }
    public let status: Status
  }
  public let grants: [Grant]?
}

public struct PaymentAction: Equatable {
  public static func oneTimePayment(scopeID: String, money: Money?) -> PaymentAction { PaymentAction() }
}

public struct Money: Equatable {
  public init(amount: UInt, currency: Currency) {}
}

public enum Currency: String, Equatable {
  case USD
}

public enum Channel: String, Equatable {
  case IN_APP
  case IN_PERSON
  case ONLINE
}

// MARK: Errors

public struct APIError: Error, Equatable {}

public struct IntegrationError: Error, Equatable {}

public struct UnexpectedError: Error, Equatable {}

public enum NetworkError: Error, Equatable {
  case noResponse
}
