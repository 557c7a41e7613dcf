// Orders at the toy processor, for the tests that drive a worker step by step.

import Domain
import Store
import TestSupport

@testable import Config

extension Bench {
  /// An app with the toy processor, without the daemon's registration of it.
  static func toyApp(_ slug: AppSlug = "shop") -> AppConfiguration {
    var app = app(slug)
    let section = ToySection(
      token: Secret("t"), apiKey: Secret("k"), apiBase: "https://toy.example", deliverTo: "purchasely")
    app.processors = [ConfiguredProcessor(section: section)]
    return app
  }

  /// Stores that the user `u1` started an order at the toy processor.
  func startOrder(_ order: String, app: AppSlug = "shop") throws {
    let report = PurchaseReport(
      key: ToyProcessor.order(order), observations: .started, startedBy: "u1", happenedAt: now)
    _ = try store(StorePayment(app: app, report))
  }
}
