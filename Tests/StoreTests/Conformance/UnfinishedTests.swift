// Tests what operators see of lookups and captures that are not finished: counts, details and lists.

import Domain
import Store
import TestSupport
import Testing

private let place = AppProcessor("ios", "pay")

@Suite("Unfinished lookups and captures", .everyEngine)
struct UnfinishedTests {
  private let store: TestStore

  init() throws {
    let pay = ProcessorRules(isAsked: true, followsUpAfter: .milliseconds(15 * minute))
    store = try TestStore(rules: [
      "ios": AppRules(
        join: JoinPolicy(settle: .zero), processors: ["pay": pay, "stripe": .stripe(isAsked: false)],
        compose: TestStore.compose)
    ])
    for number in ["1", "2", "3"] {
      _ = try store.apply(StorePayment(app: "ios", Said.pay(.started, number, by: "u\(number)")))
    }
  }

  private func order(_ number: String) throws -> OpenCapture {
    let order = CaptureOrder(key: Said.payKey(number), user: UserID("u\(number)"))
    let outcome = try store.apply(OrderCapture(app: "ios", order))
    guard case .begun(let open, _) = outcome else { throw Unexpected() }
    return open
  }

  private struct Unexpected: Error {}

  private func work(_ place: AppProcessor = place) throws -> UnfinishedWork {
    try store.reader.unfinished(place, now: store.now)
  }

  private func detail(_ number: String) throws -> ReceiptDetail {
    let found = try store.reader.details(object: Said.payKey(number).id)
    try #require(found.count == 1)
    return found[0]
  }

  private func abandon(_ open: OpenCapture) throws {
    let outcome = CaptureOutcome(kind: .abandoned, status: 504, body: [])
    _ = try store.apply(EndCapture(app: "ios", open.reference, outcome, report: nil))
  }

  @Test func `Nothing is counted for another app, or for another processor`() throws {
    _ = try order("1")
    #expect(try work(AppProcessor("web", "pay")).isEmpty)
    #expect(try work(AppProcessor("ios", "other")).isEmpty)
    #expect(try work().openCaptures == 1)
  }

  @Test func `A capture is open, then its outcome is unknown, and after its end it is neither`() throws {
    let open = try order("1")
    store.advance(minute)
    #expect(try work().openCaptures == 1)
    #expect(try work().unknownCaptures == 0)
    #expect(try work().oldestCapture == open.orderedAt)
    store.advance(minute)
    #expect(try work().unknownCaptures == 1)
    let charged = CaptureOutcome(kind: .captured, status: 201, body: [])
    _ = try store.apply(EndCapture(app: "ios", open.reference, charged, report: Said.pay(.paid)))
    #expect(try work().openCaptures == 0)
    #expect(try work().unknownCaptures == 0)
    #expect(try work().oldestCapture == nil)
    #expect(try work().abandonedCaptures == 0)
  }

  @Test func `A capture that was given up is counted until the payment's outcome is known`() throws {
    try abandon(try order("1"))
    #expect(try work().abandonedCaptures == 1)
    #expect(try store.reader.abandonedCaptures(place).last == store.now)
    _ = try store.apply(StorePayment(app: "ios", Said.pay(.paid)))
    #expect(try work().abandonedCaptures == 0)
  }

  @Test func `A capture that was given up is counted while its payment is only authorised`() throws {
    try abandon(try order("1"))
    func report(_ observations: Observations, isCaptured: Bool) throws {
      var report = Said.pay(observations)
      report.payment = PaymentFacts(
        amount: "1.00", currency: "SEK", isCaptured: isCaptured, reference: #"","captured":false,""#)
      _ = try store.apply(StorePayment(app: "ios", report))
    }
    try report(.paid, isCaptured: false)
    #expect(try detail("1").record.purchase.isCaptureInDoubt)
    #expect(try work().abandonedCaptures == 1)
    #expect(try store.reader.abandonedCaptures(place).last == store.now)
    #expect(try store.reader.troubledPayments(place, limit: 10).map(\.kind) == [.captureAbandoned])
    try report(.paid, isCaptured: true)
    #expect(try !detail("1").record.purchase.isCaptureInDoubt)
    #expect(try work().abandonedCaptures == 0)
    #expect(try store.reader.troubledPayments(place, limit: 10).isEmpty)
  }

  @Test(arguments: [Observations.closed, .reversed])
  func `A capture that was given up is not counted once its payment ended`(end: Observations) throws {
    try abandon(try order("1"))
    var authorised = Said.pay(.paid)
    authorised.payment = PaymentFacts(isCaptured: false)
    _ = try store.apply(StorePayment(app: "ios", authorised))
    #expect(try work().abandonedCaptures == 1)
    _ = try store.apply(StorePayment(app: "ios", Said.pay(end)))
    #expect(try work().abandonedCaptures == 0)
  }

  @Test("A payment that was only started is found by its id, with its captures and its planned lookup")
  func details() throws {
    let open = try order("1")
    let later = store.after(minute)
    try store.apply(SaveCapture(open.reference, failures: 2, retryAt: later, trouble: "timeout"))
    let detail = try detail("1")
    #expect(detail.record.receipt == nil)
    #expect(detail.captures.map(\.failures) == [2])
    #expect(detail.captures.first?.lastTrouble == "timeout")
    #expect(detail.captures.first?.outcome == nil)
    #expect(detail.captures.first?.retryAt == later)
    #expect(try store.reader.details(object: "none").isEmpty)
  }

  @Test func `A payment whose fetch got no answer is unanswered, also before the next fetch is due`() throws {
    let payment = try detail("1").record.reference
    #expect(try store.apply(FetchPurchase(payment)) == .planned)
    #expect(try work().unansweredLookups == 1)
    let lookup = try #require(try detail("1").lookup)
    #expect(lookup.isFetch)
    #expect(lookup.attempts == 0)
    let next = store.after(10 * minute)
    _ = try store.apply(
      IngestLookup(
        place, of: payment, asked: nil, fetches: try fetches(payment.row), reports: [], nextAt: next))
    #expect(try detail("1").lookup?.dueAt == next)
    #expect(try detail("1").lookup?.attempts == 1)
    #expect(try work().unansweredLookups == 1)
    #expect(try work().lookups >= 1)
    let listed = try store.reader.troubledPayments(place, limit: 10)
    #expect(listed.map(\.objectID) == [Said.payKey("1").id])
    #expect(listed.map(\.kind) == [.lookupUnanswered])
    #expect(listed.first?.nextAt == next)
  }

  @Test("A fetch that was given up is listed until an operator or an event requires another, or it is paid")
  func givenUpLookups() throws {
    func giveUp(_ number: String) throws -> PurchaseReference {
      let payment = try detail(number).record.reference
      _ = try store.apply(FetchPurchase(payment))
      _ = try store.apply(
        IngestLookup(
          place, of: payment, asked: nil, fetches: try fetches(payment.row), reports: [],
          nextAt: Lookup.never))
      return payment
    }
    let payment = try giveUp("1")
    let other = try giveUp("2")
    let before = try work()
    #expect(before.abandonedLookups == 2)
    #expect(before.unansweredLookups == 0)
    #expect(try detail("1").lookup?.dueAt == nil)
    #expect(try detail("1").lookup?.isFetch == true)
    let listed = try store.reader.troubledPayments(place, limit: 10)
    #expect(listed.map(\.kind) == [.lookupAbandoned, .lookupAbandoned])
    #expect(listed.map(\.nextAt) == [nil, nil])
    for step: Duration? in [nil, .milliseconds(-5 * hour), .milliseconds(5 * hour)] {
      _ = try store.apply(FollowClock(step: step))
      #expect(try work().abandonedLookups == 2, "it is not due by any clock")
    }
    #expect(try store.apply(FetchPurchase(payment)) == .planned)
    #expect(try work().abandonedLookups == 1)
    let due = try store.reader.dueLookups(place, now: store.now, limit: 10).map(\.reference)
    #expect(due.contains(payment))
    #expect(!due.contains(other))
    _ = try store.apply(StorePayment(app: "ios", Said.pay(.paid, "2")))
    #expect(try work().abandonedLookups == 0)
  }

  private func fetches(_ row: PurchaseRowID) throws -> Int64 {
    try #require(try store.reader.dueLookups(place, now: store.now, limit: 10).first { $0.row == row })
      .fetches
  }

  private func answer(_ number: String, _ observations: Observations) throws -> Bool {
    let payment = try detail(number).record.reference
    return try store.apply(
      IngestLookup(
        place, of: payment, asked: nil, fetches: 1, isFetched: true,
        reports: [Said.pay(observations, number)],
        nextAt: store.after(minute))
    ).wasUnreported
  }

  @Test func `A payment that a fetch finds paid is unreported, unless an event named it before`() throws {
    #expect(try !answer("1", []), "it is not paid yet")
    #expect(try answer("1", .paid))
    #expect(try !answer("1", .paid), "it counts once")
    _ = try store.apply(
      IngestEvent(
        app: "ios", processor: "pay", eventID: "callback_1", type: "callback", body: [1],
        content: .fetch(Said.payKey("2"), sessionID: nil, keep: false), isHint: true))
    #expect(try !answer("2", .paid), "a callback had reported it")
    #expect(try !answer("3", .closed), "it ended without money")
  }

  @Test("Captures without an outcome are listed before those that were given up, the oldest first")
  func listed() throws {
    try abandon(try order("1"))
    _ = try order("2")
    store.advance(minute)
    _ = try order("3")
    let found = try store.reader.troubledPayments(place, limit: 10)
    #expect(found.map(\.objectID) == ["2", "3", "1"].map { Said.payKey($0).id })
    #expect(found.map(\.kind) == [.captureOpen, .captureOpen, .captureAbandoned])
    #expect(found.map(\.userID) == ["u2", "u3", "u1"])
    #expect(try store.reader.troubledPayments(place, limit: 1).count == 2)
  }

  @Test("An operator's fetch needs a key for the processor's API, and data that was not erased")
  func fetch() throws {
    #expect(try store.apply(FetchPurchase(store.reference(999))) == .notFound)
    try store.ingest(Said.completed())
    let record = try #require(try store.reader.details(object: "sub_1").first).record
    #expect(try store.apply(FetchPurchase(record.reference)) == .notAsked)
    let payment = try detail("2").record.rowID
    _ = try store.apply(ForgetPurchases(rows: [payment], cancelsOpen: false))
    #expect(try store.apply(FetchPurchase(store.reference(payment))) == .erased)
  }
}
