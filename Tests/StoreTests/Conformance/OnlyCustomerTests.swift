// Tests of the customer of a processor that a posted context finds for its user.

import Domain
import Store
import Testing

@Suite("The only customer of a user", .everyEngine)
struct OnlyCustomerTests {
  /// Stores a paid purchase of a user.
  private func buy(_ store: TestStore, _ n: String, _ user: String, customer: CustomerID) throws {
    var said = Said.completed(n, user: user, prices: ["price_1"])
    said.customerID = customer
    try store.ingest(said)
    store.advance(minute)
  }

  /// Posts a context and returns the customer that it finds. No purchase of the tests gets the context,
  /// because it names another price.
  private func customer(
    of user: UserID, _ store: TestStore, blob: String, at processor: ProcessorName? = "stripe"
  ) throws -> CustomerID? {
    var command = IngestContext(
      app: "ios", userID: user, blob: ContextBlob(text: blob, priceID: "price_9"), id: store.makeContextID())
    command.customerAt = processor
    return try #require(try store.apply(command).stored).customerID
  }

  @Test func `It is found if all purchases have it, and only if it is asked for`() throws {
    let store = try TestStore()
    #expect(try customer(of: "u1", store, blob: "YQ==") == nil)
    store.advance(minute)
    try buy(store, "1", "u1", customer: "cus_a")
    try buy(store, "2", "u1", customer: "cus_a")
    #expect(try customer(of: "u1", store, blob: "Yg==") == "cus_a")
    #expect(try customer(of: "u1", store, blob: "Yw==", at: nil) == nil)
    #expect(try customer(of: "u1", store, blob: "ZA==", at: "other") == nil)
    #expect(try customer(of: "u2", store, blob: "ZQ==") == nil)
  }

  @Test func `Two customers of a user are ambiguous, and so is a customer of two users`() throws {
    let store = try TestStore()
    try buy(store, "1", "u1", customer: "cus_a")
    try buy(store, "2", "u1", customer: "cus_b")
    try buy(store, "3", "u2", customer: "cus_c")
    try buy(store, "4", "u3", customer: "cus_c")
    for user in ["u1", "u2", "u3"] as [UserID] {
      #expect(try customer(of: user, store, blob: "YQ==") == nil, "\(user)")
    }
  }

  @Test func `A repeat of a post finds what the first post found, whatever was bought since`() throws {
    let store = try TestStore()
    #expect(try customer(of: "u1", store, blob: "YQ==") == nil)
    store.advance(minute)
    try buy(store, "1", "u1", customer: "cus_a")
    let repeats = try customer(of: "u1", store, blob: "YQ==")
    let next = try customer(of: "u1", store, blob: "Yg==")
    #expect(repeats == nil)
    #expect(next == "cus_a")
  }
}
