// What the database stores about one user. One thread.

internal import Domain
internal import Store

/// The stored data of one user.
struct UserSurvey {
  /// No real user has more purchases; an id that many users share may.
  static let purchasesMax = 10_000

  /// The data of one app.
  struct Part {
    var app: AppSlug
    var purchases: [UserPurchase] = []
    var contexts: Int64 = 0
    /// Customers of processors that belong to the user.
    var payers: [CustomerID] = []

    var receipts: [UserPurchase] { purchases.filter { $0.receiptID != nil } }

    var customers: [CustomerID] { Set(purchases.compactMap(\.customerID) + payers).sorted() }

    /// Receipts that are not delivered yet.
    var open: [UserPurchase] { purchases.filter { $0.state == .waiting || $0.state == .pending } }
  }

  var parts: [Part] = []

  /// - Parameter app: the only app to search; nil means all.
  init(of user: UserID, app: AppSlug?, _ reader: StoreReader) throws {
    let purchases = try reader.purchases(ofUser: user, limit: Self.purchasesMax)
    let payers = try reader.payers(ofUser: user, limit: Self.purchasesMax)
    let apps = Set(purchases.map(\.app)).union(payers.map(\.app))
      .union(try reader.appsWithContexts(ofUser: user))
    for slug in apps.sorted() where app == nil || app == slug {
      parts.append(
        Part(
          app: slug, purchases: purchases.filter { $0.app == slug },
          contexts: try reader.countContexts(ofUser: user, app: slug),
          payers: payers.filter { $0.app == slug }.map(\.id)))
    }
  }
}
