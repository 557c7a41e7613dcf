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

  init() throws { store = try TestStore() }

  private func acquire(
    _ customer: CustomerID = "payer", for user: UserID, at place: AppProcessor = place
  ) throws -> Bool {
    try store.apply(AcquirePayer(customer, for: user, at: place))
  }

  private func belongs(
    _ customer: CustomerID = "payer", to user: UserID, at place: AppProcessor = place
  ) throws -> Bool? {
    try store.reader.belongs(customer, to: user, at: place)
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

  @Test("Ids of payers and of users are compared byte by byte")
  func bytes() throws {
    #expect(try acquire("é", for: "ü"))
    #expect(try belongs("e\u{301}", to: "ü") == nil)
    #expect(try belongs("é", to: "u\u{308}") == false)
  }

  @Test("Retention of payments does not change whose a payer is")
  func retention() throws {
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

  @Test("A payment that names another user's customer does not change whose it is")
  func named() throws {
    #expect(try acquire(for: "u2"))
    var said = Said.pay(.started, by: "u1")
    said.customerID = "payer"
    #expect(try store.apply(StorePayment(app: "ios", said)))
    #expect(try belongs(to: "u2") == true)
    #expect(try belongs(to: "u1") == false)
  }

  @Test("An erasure keeps the ids of a payer and its owner only as hashes")
  func erased() throws {
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

  @Test("While the app is not configured nothing is stored")
  func unconfigured() throws {
    let command = AcquirePayer("payer", for: "u1", at: AppProcessor("gone", "pay"))
    #expect(try store.apply(WhileConfigured("gone", command)) == nil)
    #expect(try store.integer("SELECT count(*) FROM payers") == 0)
  }
}
