// The page on which a customer pays one price. Pure; any thread.

public import Domain
internal import Formats

/// A configured checkout page: a Stripe Payment Link, or the merchant's own page.
public struct CheckoutPage: Sendable, Equatable {
  /// The URL as configured.
  public let url: String

  /// Stripe copies this parameter of a Payment Link into the webhook, where it names the context
  /// (docs.stripe.com/payment-links/url-parameters: letters, digits, `-` and `_`, at most 200).
  static let referenceParameter = "client_reference_id"

  /// Describes the fault and its fix; nil when the URL is valid.
  static func fault(in url: String) -> String? {
    if let fault = EndpointURL.fault(in: url, carriesSecret: false) { return fault }
    let query = url.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
    // An escaped name is the same name for the page: client%5Freference_id.
    let names = query.split(separator: "&").map { field in
      PercentEncoding.decodeBytes(String(field.prefix { $0 != "=" }).utf8.span, plusIsSpace: true).bytes
    }
    guard !names.contains(Array(referenceParameter.utf8)) else {
      return "has \(referenceParameter) in it; take it out, each checkout gets its own"
    }
    return nil
  }

  /// The page's URL for one checkout.
  public func address(contextID: ContextID) -> String {
    var address = url
    if !address.contains("?") {
      address += "?"
    } else if address.last != "?", address.last != "&" {
      address += "&"
    }
    return "\(address)\(Self.referenceParameter)=\(contextID)"
  }
}
