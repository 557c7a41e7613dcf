// The errors of Cash App Pay's steps. Text for developers is `OperatorText`, so that it cannot be shown to a
// customer by mistake. Pure; thread-safe.

public import Foundation

/// Why a step of ``CashAppPayment`` failed. Nothing was charged.
public enum CashAppError: Error, Sendable, Hashable {
  /// Afterpay answered with a status other than 2xx; `message` is Afterpay's, or says that there is none.
  case http(status: Int, message: OperatorText)
  /// The request could not be sent, had no response, or an unexpected one.
  case failed(RelayError)
  /// The signed order is not a token in the form of RFC 7515, or names no merchant.
  case invalidToken(OperatorText)
  /// The signed amount is not a decimal number with at most two decimals, or not in US dollars.
  case invalidAmount
  /// The signed redirect URL is not a URL that may be opened.
  case invalidRedirectURL
  /// Afterpay did not accept the grant for this order.
  case notValid(status: OperatorText)
}

extension CashAppError {
  /// Afterpay's problems: `{"errorCode","errorId","message","httpStatusCode"}`. The body may be empty.
  private struct Document: Decodable {
    let message: String
  }

  init(_ failure: HTTPFailure) {
    let document = try? JSONDecoder().decode(Document.self, from: Data(failure.body.forLog.utf8))
    let message = document.flatMap { $0.message.isEmpty ? nil : $0.message } ?? "It sent no message."
    self = .http(status: failure.status, message: OperatorText(message))
  }

  /// What a customer can do.
  public var advice: RelayError.Advice {
    switch self {
    case .http(let status, _): RelayError.http(HTTPFailure(status: status, body: "")).advice
    case .failed(let error): error.advice
    case .notValid: .tryAgain
    case .invalidToken, .invalidAmount, .invalidRedirectURL: .contactSupport
    }
  }

  /// One sentence for a log.
  public var logText: OperatorText {
    switch self {
    case .http(let status, let message): "Afterpay answered \(status). \(message.forLog)"
    // `RelayError` names its own server.
    case .failed(.unexpectedAnswer(let status, _)): "Afterpay answered \(status) with an unexpected body."
    case .failed(let error): error.logText
    case .invalidToken(let text): "The signed order is not valid. \(text.forLog)"
    case .invalidAmount: "The signed order has no valid amount in US dollars."
    case .invalidRedirectURL: "The signed order has no valid redirect URL."
    case .notValid(let status): "Afterpay did not accept the grant: \(status.forLog)"
    }
  }
}

extension CashAppError: LocalizedError {
  /// One of three fixed English sentences, by ``advice``, as ``RelayError``'s.
  public var errorDescription: String? { advice.sentence }
}
