// The page where one price is paid. Pure; any thread.

/// A configured checkout page: a Stripe Payment Link, or a page of the merchant's own.
public struct CheckoutPage: Sendable, Equatable {
  /// As it is configured.
  public let url: String

  /// Stripe hands this parameter of a Payment Link on to the webhook, where it names the context
  /// (docs.stripe.com/payment-links/url-parameters: letters, digits, `-` and `_`, at most 200).
  static let referenceParameter = "client_reference_id"

  public init(url: String) { self.url = url }

  /// What is wrong with it and what to do, or nil when it is fine.
  static func fault(in url: String) -> String? {
    if let fault = EndpointURL.fault(in: url, carriesSecret: false) { return fault }
    let query = url.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
    let names = query.split(separator: "&").map { $0.prefix { $0 != "=" } }
    guard !names.contains(where: { $0 == referenceParameter }) else {
      return "has \(referenceParameter) in it; take it out, each checkout gets its own"
    }
    return nil
  }

  /// The page for one checkout.
  public func address(contextID: String) -> String {
    var address = url
    if !address.contains("?") {
      address += "?"
    } else if address.last != "?", address.last != "&" {
      address += "&"
    }
    return "\(address)\(Self.referenceParameter)=\(contextID)"
  }
}
