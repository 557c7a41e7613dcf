// The answers of Afterpay's API for Cash App Pay. Pure; thread-safe.

public import Foundation

/// An order that Afterpay has signed for Cash App.
public struct SignedCashAppOrder: Sendable, Hashable {
  /// The signed order, for the validation. Its signature is Afterpay's matter: it came from there by TLS.
  public let jwt: String
  /// The amount, as signed.
  public let amount: PaymentAmount
  /// The same amount in cents, exactly: the amount of Cash App's request.
  public let cents: UInt
  /// Afterpay's own redirect URL, as signed. The app gives Cash App's SDK its own, see ``RedirectHandOff``.
  public let redirectURL: URL
  /// The merchant at Cash App (`MMI_…`).
  public let merchantID: String
  /// The brand: the scope of Cash App's request.
  public let brandID: String
}

/// The customer's grant after its validation.
public struct ValidatedCashAppGrant: Sendable, Hashable {
  /// The customer's name in Cash App, to be shown: `$jane`; nil when it was not sent.
  public let cashtag: String?
}

extension SignedCashAppOrder {
  private struct Document: Decodable {
    let jwtToken: String
    let externalBrandId: String
  }

  /// What is signed. Members of another type count as missing, so that each has its own error.
  private struct Payload: Decodable {
    let merchantID: String?
    let amount: PaymentAmount?
    let redirectURL: String?

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      merchantID = try? members.decode(String.self, forKey: .merchantID)
      amount = try? members.decode(PaymentAmount.self, forKey: .amount)
      redirectURL = try? members.decode(String.self, forKey: .redirectURL)
    }

    private enum CodingKeys: String, CodingKey {
      case amount
      case merchantID = "externalMerchantId"
      case redirectURL = "redirectUrl"
    }
  }

  init(_ answer: HTTPSuccess) throws(CashAppError) {
    guard let document = try? JSONDecoder().decode(Document.self, from: answer.body),
      !document.externalBrandId.isEmpty
    else { throw .failed(answer.unexpected) }
    let json = try SignedToken.payload(of: document.jwtToken)
    guard let payload = try? JSONDecoder().decode(Payload.self, from: json) else {
      throw .invalidToken("The payload is not a JSON object.")
    }
    guard let merchantID = payload.merchantID, !merchantID.isEmpty else {
      throw .invalidToken("The payload names no merchant.")
    }
    // Cash App Pay pays in US dollars only; other currencies may have no cents.
    guard let amount = payload.amount, amount.currency == "USD", let cents = amount.cents else {
      throw .invalidAmount
    }
    guard let redirectURL = payload.redirectURL.flatMap({ URL(string: $0) }),
      [.browser, .deepLink].contains(ExternalLink(redirectURL))
    else { throw .invalidRedirectURL }
    self.init(
      jwt: document.jwtToken, amount: amount, cents: cents, redirectURL: redirectURL, merchantID: merchantID,
      brandID: document.externalBrandId)
  }
}

extension ValidatedCashAppGrant {
  private struct Document: Decodable {
    let status: String
    let cashAppTag: String?
  }

  init(_ answer: HTTPSuccess) throws(CashAppError) {
    guard let document = try? JSONDecoder().decode(Document.self, from: answer.body) else {
      throw .failed(answer.unexpected)
    }
    guard document.status == "SUCCESS" else { throw .notValid(status: OperatorText(document.status)) }
    self.init(cashtag: document.cashAppTag)
  }
}

/// The form of a signed JSON Web Token (RFC 7515 §7.1). The signature is not verified.
enum SignedToken {
  /// The payload: the second of three segments, each in base64url.
  static func payload(of token: String) throws(CashAppError) -> Data {
    let segments = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard segments.count == 3 else {
      throw .invalidToken("A signed token has three segments, and this one has \(segments.count).")
    }
    let parts = segments.map { decoded(Array($0)) }
    guard parts.allSatisfy({ $0?.isEmpty == false }), let payload = parts[1] else {
      throw .invalidToken("A segment is empty or not base64url.")
    }
    return payload
  }

  /// Strict base64url without padding (RFC 7515 §2): one text for each value.
  private static func decoded(_ text: [UInt8]) -> Data? {
    var standard: [UInt8] = []
    for byte in text {
      switch byte {
      case UInt8(ascii: "-"): standard.append(UInt8(ascii: "+"))
      case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
      case _ where LinkText.isLetter(byte) || LinkText.isDigit(byte): standard.append(byte)
      default: return nil
      }
    }
    let missing = (4 - standard.count % 4) % 4
    guard missing < 3 else { return nil }
    standard += [UInt8](repeating: UInt8(ascii: "="), count: missing)
    guard let value = Data(base64Encoded: Data(standard)),
      // Bits that belong to no byte must be zero (RFC 4648 §3.5).
      value.base64EncodedData() == Data(standard)
    else { return nil }
    return value
  }
}
