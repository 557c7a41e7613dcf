// What the database stores about one user. One thread.

public import Domain
internal import Platform
public import Store

/// The stored data of one user.
public struct UserSurvey {
  /// No real user has more purchases or contexts; an id that many users share may.
  public static let listMax = 10_000

  /// The data of one app.
  public struct Part {
    public var app: AppSlug
    public var purchases: [UserPurchase] = []
    public var contexts: Int64 = 0
    /// Customers of processors that belong to the user.
    public var payers: [CustomerID] = []
    /// Purchases of other users for which a source named this user.
    public var named: [UserPurchase] = []
    /// Customers of processors whose events without a purchase named the user.
    public var learned: [CustomerID] = []
    /// Other rows of `purchases`, such as a corrected receipt: the user's purchase under another user's name.
    public var behind: [UserPurchase] = []
    /// Purchases without a user of a customer that other users have, too: nobody knows whose they are.
    public var shared: [UserPurchase] = []

    /// All that an erasure of the user erases, in its order.
    public var erasable: [UserPurchase] { behind + purchases }

    public var receipts: [UserPurchase] { purchases.filter { $0.receiptID != nil } }

    public var customers: [CustomerID] {
      Set(purchases.compactMap(\.customerID) + payers + learned).sorted()
    }

    /// Erasable receipts that are not delivered yet.
    public var open: [UserPurchase] { erasable.filter { $0.state == .waiting || $0.state == .pending } }

    /// `12: 3 pending, 9 delivered`, or `none`.
    public var receiptCounts: String {
      let receipts = receipts
      guard !receipts.isEmpty else { return "none" }
      let states = ReceiptState.allCases.compactMap { state in
        let count = receipts.filter { $0.state == state }.count
        return count > 0 ? "\(CountText.grouped(count)) \(state.rawValue)" : nil
      }
      return "\(CountText.grouped(receipts.count)): \(states.joined(separator: ", "))"
    }
  }

  /// One for each app that knows the user, sorted by name.
  public private(set) var parts: [Part] = []
  /// Whether there are more purchases, or contexts of an app, than `listMax`.
  public private(set) var isCut = false

  /// - Parameters:
  ///   - user: nil if no user is known.
  ///   - more: purchases without a user that are counted as this user's.
  ///   - app: the only app to search; nil means all.
  public init(
    of user: UserID?, and more: [UserPurchase] = [], app: AppSlug?, _ reader: StoreReader
  ) throws(StoreFault) {
    var purchases: [UserPurchase] = []
    var payers: [(app: AppSlug, id: CustomerID)] = []
    var named: [UserPurchase] = []
    var learned: [(app: AppSlug, id: CustomerID)] = []
    var apps: Set<AppSlug> = []
    if let user {
      learned = try reader.learnedCustomers(ofUser: user, limit: Self.listMax)
      named = try reader.purchases(naming: user, limit: Self.listMax)
      purchases = try reader.purchases(ofUser: user, limit: Self.listMax + 1)
      payers = try reader.payers(ofUser: user, limit: Self.listMax)
      apps = try Set(reader.appsWithContexts(ofUser: user) + reader.appsWithClaims(ofUser: user))
    }
    let known = Set(purchases.map(\.row))
    purchases += more.filter { $0.userID == nil && !known.contains($0.row) }
    let behind = try reader.purchases(behind: purchases)
    let shared = try Self.shared(purchases, reader)
    apps.formUnion(purchases.map(\.app))
    apps.formUnion(payers.map(\.app))
    apps.formUnion(named.map(\.app))
    apps.formUnion(learned.map(\.app))
    for slug in apps.sorted() where app == nil || app == slug {
      parts.append(
        Part(
          app: slug, purchases: purchases.filter { $0.app == slug },
          contexts: try user.map { user throws(StoreFault) in
            try reader.countContexts(ofUser: user, app: slug)
          } ?? 0,
          payers: payers.filter { $0.app == slug }.map(\.id), named: named.filter { $0.app == slug },
          learned: learned.filter { $0.app == slug }.map(\.id), behind: behind.filter { $0.app == slug },
          shared: shared.filter { $0.app == slug }))
    }
    isCut = purchases.count > Self.listMax || parts.contains { $0.contexts > Self.listMax }
  }

  private static func shared(
    _ purchases: [UserPurchase], _ reader: StoreReader
  ) throws(StoreFault) -> [UserPurchase] {
    var known = Set(purchases.map(\.row))
    var found: [UserPurchase] = []
    for purchase in purchases {
      guard purchase.userID != nil, let customer = purchase.customerID else { continue }
      let without = try reader.purchasesWithoutUser(
        ofCustomer: customer, app: purchase.app, limit: listMax)
      found += without.filter { known.insert($0.row).inserted }
    }
    return found
  }
}
