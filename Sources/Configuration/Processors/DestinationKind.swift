// The destinations that receipts can be sent to. A new destination adds its line to `all`. Pure, except for
// reading secrets.

package import Destinations
internal import Domain

/// One kind of destination.
package struct DestinationKind: Sendable {
  /// Its name in `deliver_to`, rows and logs.
  package let name: String
  private let maker: @Sendable (AppConfiguration, Bool, String) throws -> any ReceiptDestination

  private init(
    _ name: String,
    _ maker: @escaping @Sendable (AppConfiguration, Bool, String) throws -> any ReceiptDestination
  ) {
    self.name = name
    self.maker = maker
  }

  /// - Parameter revealsSecrets: if false, the destination can build requests, but they cannot be sent.
  /// - Throws: `Fault` when a required secret cannot be read.
  package func make(
    _ app: AppConfiguration, revealsSecrets: Bool, userAgent: String
  ) throws -> any ReceiptDestination {
    try maker(app, revealsSecrets, userAgent)
  }

  /// The destinations of this program. Add a new destination here.
  package static let all = [purchasely]

  private static let purchasely = DestinationKind(PurchaselyDestination.name) {
    app, revealsSecrets, userAgent in
    PurchaselyDestination(
      PurchaselySettings(
        url: app.purchasely.url, apiKey: revealsSecrets ? try app.purchasely.apiKey.reveal() : "",
        forwardsContext: app.delivery.forwardContext, userAgent: userAgent))
  }

  /// The destination that an app's processors name.
  package static func of(_ app: AppConfiguration) -> DestinationKind {
    let named = app.processors.first?.section.deliverTo
    return all.first { $0.name == named } ?? purchasely
  }
}
