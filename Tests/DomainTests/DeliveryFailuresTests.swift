// Whose failures they are, and which receipts a round of probes tries.

import Domain
import Testing

private let delivered = Verdict.delivered(importID: nil)
private let refused = Verdict.refused(.status(422))
private let broken = Verdict.retry(.status(500), retryAfter: nil)
private let forbidden = Verdict.misconfigured(.status(403))

extension DeliveryFailures {
  fileprivate mutating func note(
    _ verdict: Verdict, _ row: PurchaseRowID, price: PriceID? = nil, wasProbe: Bool = false,
    wasAnswered: Bool = true, _ before: Breaker.State = .closed, _ after: Breaker.State = .closed
  ) {
    record(
      verdict, of: row, price: price, wasProbe: wasProbe, wasAnswered: wasAnswered, before: before,
      after: after)
  }
}

@Suite("Failures of deliveries")
struct DeliveryFailuresTests {
  @Test(
    "A receipt that failed while another one passed does not count against the destination",
    arguments: [delivered, refused])
  func alone(pass: Verdict) {
    var failures = DeliveryFailures()
    failures.note(broken, 1)
    #expect(failures.concernsDestination(broken, of: 1, state: .closed), "nothing else has passed")
    failures.note(pass, 2)
    #expect(failures.alone == [1])
    #expect(!failures.concernsDestination(broken, of: 1, state: .closed))
    #expect(failures.concernsDestination(broken, of: 1, state: .open), "a probe counts")
    #expect(failures.concernsDestination(delivered, of: 1, state: .closed))
    #expect(failures.concernsDestination(.coolDown(.status(429), for: .seconds(1)), of: 1, state: .closed))
    #expect(failures.concernsDestination(broken, of: 2, state: .closed))
    failures.note(pass, 1)
    #expect(failures.alone.isEmpty)
  }

  @Test func `A receipt that gets a 403 alone is retried by its own schedule`() {
    var failures = DeliveryFailures()
    #expect(failures.own(forbidden, of: 1) == forbidden)
    failures.note(forbidden, 1, .closed, .paused)
    failures.note(delivered, 2, wasProbe: true, .paused, .closed)
    #expect(failures.own(forbidden, of: 1) == .retry(.status(403), retryAfter: nil))
    #expect(failures.own(forbidden, of: 2) == forbidden)
    failures.forget(1)
    #expect(failures.own(forbidden, of: 1) == forbidden)
  }

  @Test func `What failed with an earlier configuration does not fail alone when another receipt passes`() {
    var failures = DeliveryFailures()
    failures.note(broken, 1)
    failures.note(delivered, 2)
    failures.note(forbidden, 3, .closed, .paused)
    failures.forgetRecent()
    failures.note(delivered, 4, wasProbe: true, .paused, .closed)
    #expect(failures.alone == [1], "others passed with the same configuration")
  }

  @Test("A round tries four others after the first, none twice, other prices and the newest first")
  func round() throws {
    var failures = DeliveryFailures()
    failures.note(broken, 9, price: "a")
    failures.note(broken, 8, price: "a", .closed, .open)
    var newestFirst: [(row: PurchaseRowID, price: PriceID?)] = [
      (9, "a"), (7, "a"), (6, "a"), (5, "b"), (4, nil), (3, "c"), (2, "c"),
    ]
    var tried: [PurchaseRowID] = []
    while failures.othersLeft > 0 {
      let next = try #require(failures.another(of: newestFirst))
      tried.append(next.row)
      failures.note(broken, next.row, price: next.price, wasProbe: true, .open, .open)
    }
    #expect(tried == [5, 4, 3, 7])
    // The next round prefers those that have not failed yet.
    failures.beginRound()
    failures.note(broken, 8, price: "a", wasProbe: true, .open, .open)
    #expect(failures.othersLeft == 4)
    #expect(failures.another(of: newestFirst)?.row == 2)
    newestFirst = [(8, "a"), (7, "a")]
    #expect(failures.another(of: newestFirst)?.row == 7, "all others have failed")
    #expect(failures.another(of: [(8, "a")]) == nil, "it was tried in this round")
  }

  @Test func `A destination that gets no request, or asks for a rest, is asked for no other receipt`() {
    var failures = DeliveryFailures()
    failures.note(broken, 1, wasAnswered: false, .closed, .open)
    #expect(failures.othersLeft == 0)
    failures.beginRound()
    failures.note(.coolDown(.status(429), for: .seconds(9)), 2, wasProbe: true, .open, .open)
    #expect(failures.othersLeft == 0)
  }
}
