// Where receipts can go. What a new destination adds here is its line in `all`. Pure, but for the reading of
// secrets.

package import Destinations
internal import Domain

/// One kind of destination.
package struct DestinationKind: Sendable {
  /// The word for it in `deliver_to`, rows and logs.
  package let name: String
  private let maker: @Sendable (AppConfiguration, Bool, String) throws -> any ReceiptDestination

  private init(
    _ name: String,
    _ maker: @escaping @Sendable (AppConfiguration, Bool, String) throws -> any ReceiptDestination
  ) {
    self.name = name
    self.maker = maker
  }

  /// - Parameter revealsSecrets: otherwise it can say what to send, and nothing can be sent to it.
  /// - Throws: `Fault` when a secret that is needed cannot be read.
  package func make(
    _ app: AppConfiguration, revealsSecrets: Bool, userAgent: String
  ) throws -> any ReceiptDestination {
    try maker(app, revealsSecrets, userAgent)
  }

  /// Those of this program. A new destination is one more here.
  package static let all = [purchasely]

  private static let purchasely = DestinationKind(PurchaselyDestination.name) {
    app, revealsSecrets, userAgent in
    PurchaselyDestination(
      PurchaselySettings(
        url: app.purchasely.url, apiKey: revealsSecrets ? try app.purchasely.apiKey.reveal() : "",
        forwardsContext: app.delivery.forwardContext, userAgent: userAgent))
  }

  /// The one that an app's processors name.
  package static func of(_ app: AppConfiguration) -> DestinationKind {
    let named = app.processors.first?.section.deliverTo
    return all.first { $0.name == named } ?? purchasely
  }
}
