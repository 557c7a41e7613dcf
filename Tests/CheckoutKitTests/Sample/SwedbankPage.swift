import CheckoutKit
import Foundation

extension SwedbankPayment {
  /// Starts an order without the SDK.
  /// - Parameter price: in hundredths, with 25 % VAT, which is a fifth of it.
  /// - Returns: the page on which the customer pays, for the browser. The customer comes back by the order's
  ///   payment URL, which is a universal link, or by the relay's pages.
  func page(price: Int, of product: String) async throws -> URL? {
    let urls = try urls(scheme: "exampleapp", language: "en-US")
    let order = SwedbankOrder(
      currency: "SEK", amount: price, vatAmount: price / 5, description: product, language: "en-US",
      urls: urls)
    return try await start(order).pageURL
  }
}
