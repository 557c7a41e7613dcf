// What the database has of one user. One thread.

internal import Domain
internal import Store

/// What there is of one user.
struct UserSurvey {
  /// More purchases than this no person has; a user id that many share may.
  static let purchasesMax = 10_000

  /// What one app has.
  struct Part {
    var app: String
    var purchases: [UserPurchase] = []
    var contexts: Int64 = 0

    var receipts: [UserPurchase] { purchases.filter { $0.receiptID != nil } }

    var customers: [String] { Set(purchases.compactMap(\.customerID)).sorted() }

    /// Receipts that are still to be delivered.
    var open: [UserPurchase] { purchases.filter { $0.state == .waiting || $0.state == .pending } }
  }

  var parts: [Part] = []

  /// - Parameter app: the only one to look into; nil for all.
  init(of user: String, app: String?, _ reader: StoreReader) throws {
    let purchases = try reader.purchases(ofUser: user, limit: Self.purchasesMax)
    let apps = Set(purchases.map(\.app)).union(try reader.appsWithContexts(ofUser: user))
    for slug in apps.sorted() where app == nil || app == slug {
      parts.append(
        Part(
          app: slug, purchases: purchases.filter { $0.app == slug },
          contexts: try reader.countContexts(ofUser: user, app: slug)))
    }
  }
}
