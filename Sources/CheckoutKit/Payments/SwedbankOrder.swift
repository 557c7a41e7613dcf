// Payment orders of Swedbank Pay: what the app sends, and what comes back. Pure; thread-safe.

public import Foundation

/// A payment order, as an app sends it: the fields that Swedbank Pay requires. For others, encode a type of
/// yours instead.
public struct SwedbankOrder: Sendable, Hashable, Encodable {
  /// `Purchase`, or `Verify` for a card without a payment.
  public var operation = "Purchase"
  /// `Checkout3` selects version 3 of the API; nil version 2.
  public var productName: String? = "Checkout3"
  /// ISO 4217: `SEK`.
  public var currency: String
  /// The amount in hundredths, with VAT: 1000 is 10.00 SEK.
  public var amount: Int
  /// The VAT in hundredths.
  public var vatAmount: Int
  /// What is bought, up to 40 characters.
  public var description: String
  /// The app's name and version.
  public var userAgent = "CheckoutKit"
  /// The language of the payment page: `en-US`, `sv-SE` or `nb-NO`.
  public var language: String
  /// Where the payment page leads.
  public var urls: URLs
  /// Required by the API. The relay replaces both values.
  private let payeeInfo = ["payeeId": "", "payeeReference": ""]

  /// Creates a purchase.
  public init(
    currency: String, amount: Int, vatAmount: Int, description: String, language: String, urls: URLs
  ) {
    self.currency = currency
    self.amount = amount
    self.vatAmount = vatAmount
    self.description = description
    self.language = language
    self.urls = urls
  }

  /// Where the payment page leads. Compare them with the URLs that a web view opens.
  public struct URLs: Sendable, Hashable, Encodable {
    /// Sites that may show the payment page.
    public var hostUrls: [URL]
    /// The page after the payment, whatever its outcome.
    public var completeUrl: URL
    /// The page after the customer cancelled.
    public var cancelUrl: URL
    /// The page after another app was used, such as a bank's. See ``PaymentURL``.
    public var paymentUrl: URL?

    /// Creates the URLs.
    public init(hostUrls: [URL], completeUrl: URL, cancelUrl: URL, paymentUrl: URL? = nil) {
      self.hostUrls = hostUrls
      self.completeUrl = completeUrl
      self.cancelUrl = cancelUrl
      self.paymentUrl = paymentUrl
    }
  }
}

extension SwedbankPayment {
  /// The URLs of an order that leads to the relay's pages, as the SDK forms them.
  /// - Parameters:
  ///   - scheme: the app's custom scheme, one of `links.swedbank.schemes` at the relay.
  ///   - language: as in the order.
  ///   - id: makes the payment URL different for each payment.
  public func urls(
    scheme: String, language: String, id: String = UUID().uuidString
  ) throws(RelayError) -> SwedbankOrder.URLs {
    let root = try backendURL.absoluteString
    guard LinkText.isScheme(scheme), LinkText.isIdentifier(language, bytesMax: 64), LinkText.isIdentifier(id)
    else { throw .encoding("The scheme, the language or the id is not valid.") }
    let query = "scheme=\(scheme)&language=\(LinkText.escaped(language))&id=\(LinkText.escaped(id))"
    guard let host = URL(string: root), let complete = URL(string: "\(root)complete"),
      let cancel = URL(string: "\(root)cancel"),
      let payment = URL(string: "\(root)sdk-callback/ios-universal-link?\(query)")
    else { throw .encoding("The relay's address cannot be used.") }
    return SwedbankOrder.URLs(
      hostUrls: [host], completeUrl: complete, cancelUrl: cancel, paymentUrl: payment)
  }
}

/// A payment order that Swedbank Pay has created.
public struct StartedSwedbankOrder: Sendable, Hashable {
  /// Identifies the order at Swedbank Pay and at the relay: `/psp/paymentorders/…`.
  public let orderID: String
  /// What can be done next, in Swedbank Pay's order.
  public let operations: [Operation]
  /// The whole answer, for its other fields.
  public let body: Data

  /// What can be done with an order.
  public struct Operation: Sendable, Hashable {
    /// Its meaning: `redirect-checkout`, `view-checkout`.
    public let rel: String
    /// Its address.
    public let href: URL
  }

  /// The address of the first operation with a meaning, if it is a web page or a script.
  public func url(of rel: String) -> URL? { operations.first { LinkText.isSame($0.rel, rel) }?.href }

  /// The page on which the customer pays, to be opened in the browser or a web view; nil when the order has
  /// none.
  public var pageURL: URL? { url(of: "redirect-checkout") ?? url(of: "redirect-paymentorder") }

  /// The script that shows the payment inside of the app's own page, `urls.hostUrls`; nil when the order has
  /// none.
  public var scriptURL: URL? { url(of: "view-checkout") ?? url(of: "view-paymentorder") }
}

extension StartedSwedbankOrder {
  private struct Document: Decodable {
    struct Order: Decodable { let id: String }
    struct Operation: Decodable {
      let rel: String?
      let href: String?
    }
    /// The API's spelling, and that of its documentation.
    let paymentOrder: Order?
    let paymentorder: Order?
    let operations: [Operation]?
  }

  /// - Returns: nil when the body is not a payment order.
  init?(body: Data) {
    guard let document = try? JSONDecoder().decode(Document.self, from: body),
      let id = (document.paymentOrder ?? document.paymentorder)?.id, LinkText.isIdentifier(id)
    else { return nil }  // The caller has the body and reports it.
    orderID = id
    // Only web addresses: a page must not open another app.
    operations = (document.operations ?? []).compactMap { operation in
      guard let rel = operation.rel, let href = operation.href.flatMap({ URL(string: $0) }),
        ExternalLink(href) == .browser
      else { return nil }
      return Operation(rel: rel, href: href)
    }
    self.body = body
  }
}
