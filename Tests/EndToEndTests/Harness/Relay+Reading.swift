// Reads the results from the database, the metrics and the API.

import Domain
import Formats
import PostgresStore
import SQLiteStore
import Store
import TestSupport
import Testing

extension Relay {
  /// Reads the database beside the daemon, on a connection that is closed afterwards.
  func read<Result>(_ body: (StoreReader) throws -> Result) throws -> Result {
    guard let server else { return try body(try StoreReader(path: databasePath)) }
    return try body(
      try PostgresEngine(server, isOwner: false, application: "tests", allowsUnsafe: true).openReader())
  }

  /// Every receipt, newest first.
  func receipts(_ change: (inout ReceiptFilter) -> Void = { _ in }) throws -> [PurchaseRecord] {
    var filter = ReceiptFilter()
    change(&filter)
    return try read { try $0.receipts(filter, limit: 100_000) }
  }

  /// The receipt of an object, without corrections and copies; nil when there is none.
  func receipt(of objectID: String) throws -> Receipt? {
    let found = try receipts { $0.objectID = ObjectID(objectID) }.filter {
      $0.receipt?.corrects == nil && $0.receipt?.copyOf == nil
    }
    #expect(found.count <= 1, "one purchase makes one receipt (R2)")
    return found.first?.receipt
  }

  /// Waits until the receipt of an object is in a state.
  @discardableResult func reaches(_ state: ReceiptState, _ objectID: String) throws -> Receipt {
    var last: Receipt?
    do {
      return try waitFor("the receipt of \(objectID) is \(state)") {
        last = try receipt(of: objectID)
        return last?.state == state ? last : nil
      }
    } catch let error as NeverHappened {
      throw NeverHappened(what: "\(error.what); it is \(String(describing: last))")
    }
  }

  /// The attempts to deliver an object's receipt.
  func attempts(of objectID: String) throws -> [LoggedAttempt] {
    let id = try #require(try receipt(of: objectID)?.id)
    return try #require(try read { try $0.detail(receipt: id) }).attempts
  }

  func events() throws -> [EventSummary] { try read { try $0.events(EventFilter(), limit: 100_000) } }

  func breaker(of app: AppSlug = "shop") throws -> Breaker {
    try read { try $0.breakers()[app] ?? Breaker() }
  }

  /// The number of rows in a table.
  func count(_ table: String) throws -> Int64 {
    try read { try #require(try $0.connection.integer("SELECT count(*) FROM \(table)")) }
  }

  /// The value of a sample, such as `receiptd_receipts{app="shop",state="delivered"}`.
  func metric(_ sample: String) throws -> Double? {
    try admin.request("GET", "/metrics").text.split(separator: "\n")
      .first { $0.hasPrefix(sample + " ") }
      .flatMap { $0.split(separator: " ").last }
      .flatMap { Double($0) }
  }

  /// The state of a checkout, as the app sees it.
  func state(ofContext id: String, app: String = "shop") throws -> String? {
    try outside.api.request("GET", "/v1/\(app)/contexts/\(id)")["state"]
  }

  // MARK: Requests that must be accepted

  /// Posts a checkout's context.
  /// - Returns: the context's id.
  @discardableResult func post(_ checkout: Checkout, app: String = "shop") throws -> String {
    let reply = try outside.postContext(checkout.user, checkout.context, app: app)
    try #require(reply.status == 201, "\(reply.text)")
    return try #require(reply["context_id"])
  }

  func ingest(_ events: JSONValue..., app: String = "shop") throws {
    for event in events {
      let reply = try outside.send(event, app: app)
      try #require(reply.status == 200, "\(reply.text)")
    }
  }

  /// Posts a checkout's context, and the event that completes it.
  /// - Returns: the context's id.
  @discardableResult func buy(_ checkout: Checkout, app: String = "shop") throws -> String {
    let id = try post(checkout, app: app)
    try ingest(checkout.completed, app: app)
    return id
  }

  /// Completes another user's checkout and waits for its receipt: everything that was due before has been
  /// processed.
  func passTime(app: String = "shop") throws {
    let other = Checkout("passer-by-\(app)-\(try count("purchases"))")
    try buy(other, app: app)
    try reaches(.delivered, other.subscription)
  }
}
