// Tests that a processor's customer, whose cards the processor keeps, belongs to the first user who names it,
// whatever retention and erasure remove afterwards.

import Domain
import Store
import TestSupport
import Testing

private let place = AppProcessor("ios", "pay")

@Suite("Payers", .everyEngine)
struct PayerTests {
  private let store: TestStore

  private static let account: AccountID = "https://api.example.com shop"

  init() throws { store = try TestStore() }

  private func acquire(
    _ customer: CustomerID = "payer", for user: UserID, at place: AppProcessor = place,
    _ account: AccountID? = nil
  ) throws -> Bool {
    try store.apply(AcquirePayer(customer, for: user, at: place, account))
  }

  private func belongs(
    _ customer: CustomerID = "payer", to user: UserID, at place: AppProcessor = place,
    _ account: AccountID? = nil
  ) throws -> Bool? {
    try store.reader.belongs(customer, to: user, at: place, account)
  }

  /// Two apps with the same account.
  private func storeOfShop() throws -> TestStore {
    let rules = AppRules(
      join: JoinPolicy(), processors: ["pay": ProcessorRules(account: Self.account)],
      compose: TestStore.compose)
    return try TestStore(rules: ["ios": rules, "web": rules])
  }

  @Test("A payer that was named in one app was taken over through another app of the same account")
  func account() throws {
    let (web, other) = (AppProcessor("web", "pay"), AccountID("https://api.example.com other"))
    #expect(try acquire(for: "u1", Self.account))
    for payer: CustomerID in ["payer", "PAYER", " Payer\u{A0}"] {
      #expect(try belongs(payer, to: "u2", at: web, Self.account) == false, "\(payer)")
      #expect(try !acquire(payer, for: "u2", at: web, Self.account), "\(payer)")
      // The merchant's ids of users are the same in all apps of an account.
      #expect(try acquire(payer, for: "u1", at: web, Self.account), "\(payer)")
    }
    #expect(try store.integer("SELECT count(*) FROM payers") == 1)
    // Another account, or the account that the app had before, is another matter.
    #expect(try acquire(for: "u2", at: web, other))
    #expect(try belongs(to: "u1", Self.account) == true)
    #expect(try belongs(to: "u1", other) == false)
    #expect(try store.apply(ForgetUserRows(.payers, app: "ios", userID: "u1")) == 1)
    #expect(try !acquire("Payer", for: "u2", at: web, Self.account))
    #expect(try acquire("Payer", for: "u1", at: web, Self.account))
    #expect(try store.reader.sharedPayers() == [])
  }

  @Test("Payers that older versions stored by app get their account, and one with two owners is nobody's")
  func adopted() throws {
    let (store, web) = (try storeOfShop(), AppProcessor("web", "pay"))
    for (app, payer, user) in [
      ("ios", "Shared", "u1"), ("web", "shared ", "u2"), ("ios", "own", "u1"), ("gone", "own", "u3"),
      ("web", "same", "u1"), ("ios", "same", "u1"), ("ios", "erased:11", "erased:12"),
    ] {
      try store.execute(
        """
        INSERT INTO payers (processor, app, payer, customer_id, user_id)
        VALUES ('pay', '\(app)', '\(payer)', '\(payer)', '\(user)')
        """)
    }
    // Until then an owner of any account counts.
    #expect(try store.reader.belongs("own", to: "u2", at: web, Self.account) == false)
    for app: AppSlug in ["ios", "web"] {
      _ = try store.apply(ReconsiderReceipts(app: app, startedAt: store.now))
    }
    #expect(try store.integer("SELECT count(*) FROM payers WHERE account = ''") == 1)
    let shared = try #require(try store.reader.sharedPayers().first)
    #expect(shared.users == ["u1", "u2"])
    #expect(shared.account == Self.account)
    #expect(try store.reader.sharedPayers().count == 1)
    for user: UserID in ["u1", "u2"] {
      #expect(try store.reader.belongs("shared", to: user, at: web, Self.account) == false)
      #expect(try !store.apply(AcquirePayer("SHARED", for: user, at: web, Self.account)))
    }
    #expect(try store.reader.belongs("SAME", to: "u1", at: web, Self.account) == true)
    #expect(try store.apply(ReconsiderReceipts(app: "ios", startedAt: store.now)) == .pending)
  }

  @Test("A payer that was erased in one app before it was an account's is recognized in another")
  func erasedBefore() throws {
    let (store, web) = (try storeOfShop(), AppProcessor("web", "pay"))
    #expect(try store.apply(AcquirePayer("payer", for: "u1", at: place)))
    #expect(try store.apply(ForgetUserRows(.payers, app: "ios", userID: "u1")) == 1)
    _ = try store.apply(ReconsiderReceipts(app: "ios", startedAt: store.now))
    #expect(try !store.apply(AcquirePayer("payer", for: "u2", at: web, Self.account)))
    #expect(try store.apply(AcquirePayer("payer", for: "u1", at: web, Self.account)))
  }

  @Test("A payer belongs to the first user who names it, at a processor of an app; a restart keeps it (R9)")
  func first() throws {
    #expect(try belongs(to: "u1") == nil)
    #expect(try acquire(for: "u1"))
    #expect(try !acquire(for: "u2"))
    #expect(try acquire(for: "u1"))
    try store.reopen()
    #expect(try belongs(to: "u1") == true)
    #expect(try belongs(to: "u2") == false)
    for other in [AppProcessor("ios", "stripe"), AppProcessor("web", "pay")] {
      #expect(try belongs(to: "u1", at: other) == nil)
      #expect(try acquire(for: "u2", at: other))
    }
    #expect(try belongs("none", to: "u1") == nil)
    #expect(try belongs(to: "u1") == true)
  }

  @Test("Other spellings of a payer than capitals and blanks are other payers; ids of users are bytes")
  func bytes() throws {
    #expect(try acquire("é", for: "ü"))
    #expect(try belongs("e\u{301}", to: "ü") == nil)
    #expect(try belongs("É ", to: "ü") == true)
    #expect(try belongs("é", to: "u\u{308}") == false)
  }

  @Test func `Retention of payments does not change whose a payer is`() throws {
    #expect(try acquire(for: "u1"))
    var said = Said.pay(.started, by: "u1")
    said.customerID = "payer"
    #expect(try store.apply(StorePayment(app: "ios", said)))
    store.advance(hour)
    #expect(try store.apply(RetainNoted(cutoff: store.now)).deleted == 1)
    #expect(try store.integer("SELECT count(*) FROM purchases") == 0)
    #expect(try belongs(to: "u1") == true)
    #expect(try !acquire(for: "u2"))
  }

  @Test func `A payment that names another user's customer does not change whose it is`() throws {
    #expect(try acquire(for: "u2"))
    var said = Said.pay(.started, by: "u1")
    said.customerID = "payer"
    #expect(try store.apply(StorePayment(app: "ios", said)))
    #expect(try belongs(to: "u2") == true)
    #expect(try belongs(to: "u1") == false)
  }

  @Test func `An erasure keeps the ids of a payer and its owner only as hashes`() throws {
    for number in 0..<3 { #expect(try acquire("payer-\(number)", for: "user-jane")) }
    #expect(try acquire("payer-other", for: "u2"))
    #expect(try acquire("payer-0", for: "user-jane", at: AppProcessor("web", "pay")))
    #expect(try store.reader.payers(ofUser: "user-jane", limit: 10).count == 4)
    #expect(try store.apply(ForgetUserRows(.payers, app: "ios", userID: "user-jane")) == 3)
    #expect(try store.apply(ForgetUserRows(.payers, app: "ios", userID: "user-jane")) == 0)
    #expect(try store.reader.payers(ofUser: "user-jane", limit: 10).map(\.app) == ["web"])
    #expect(try store.apply(ForgetUserRows(.payers, app: "web", userID: "user-jane")) == 1)
    let dump = try TestEngine.current.dump(store.folder)
    for text in ["user-jane", "payer-0", "payer-1", "payer-2"] { #expect(!dump.contains(text), "\(text)") }
    #expect(dump.contains("payer-other"))
    #expect(try store.integer("SELECT count(*) FROM payers") == 5)
    #expect(try store.reader.contradictions() == [])
  }

  @Test("After an erasure nobody else gets the payer, and the user who comes back has it again")
  func comesBack() throws {
    #expect(try acquire(for: "u1"))
    #expect(try store.apply(ForgetUserRows(.payers, app: "ios", userID: "u1")) == 1)
    try store.reopen()
    #expect(try belongs(to: "u2") == false)
    #expect(try !acquire(for: "u2"))
    #expect(try belongs(to: "u1") == true)
    #expect(try acquire(for: "u1"))
    // The ids are not stored again.
    #expect(try store.reader.payers(ofUser: "u1", limit: 1).isEmpty)
    #expect(try store.integer("SELECT count(*) FROM payers") == 1)
    // Payers of others are still found, and free ones acquired.
    #expect(try belongs("new", to: "u2") == nil)
    #expect(try acquire("new", for: "u2"))
    #expect(try belongs("new", to: "u1") == false)
  }

  @Test func `While the app is not configured nothing is stored`() throws {
    let command = AcquirePayer("payer", for: "u1", at: AppProcessor("gone", "pay"))
    #expect(try store.apply(WhileConfigured("gone", command)) == nil)
    #expect(try store.integer("SELECT count(*) FROM payers") == 0)
  }
}
