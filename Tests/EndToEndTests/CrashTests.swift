// The power cut's little sister: kill -9 in the middle of everything, again and again, with two ledgers that
// are compared afterwards: what the sender was promised, and what the destination got.

import Domain
import Glibc
import HTTPServer
import JSON
import Platform
import Store
import Testing

@Suite(.withDaemonLog) struct CrashTests {
  private static let kills = 8
  private static let senders = 4
  private static let concurrency = 8

  /// What the senders know.
  private struct Promises {
    var port: UInt16
    /// Events that were answered 200, and whether their context had been answered before.
    var taken: [Checkout] = []
    var isOver = false
  }

  /// Sends users through checkouts until it is over. A context is posted until it is taken; an event is sent
  /// once, so that nothing but the relay can make up for one that was promised and lost.
  private static func keepSending(_ promises: Monitor<Promises>, sender: Int) {
    var number = 0
    while true {
      let (port, isOver) = promises.withLock { ($0.port, $0.isOver) }
      if isOver { return }
      let outside = Outside(api: Endpoint(port: port))
      let checkout = Checkout("crash-\(sender)-\(number)")
      // A relay that is down refuses connections or breaks them off; the next one is for its successor.
      guard let posted = try? outside.postContext(checkout.user, checkout.context), posted.status < 300 else {
        Waiting.pause()
        continue
      }
      number += 1
      guard let sent = try? outside.send(checkout.completed), sent.status == 200 else { continue }
      promises.update { $0.taken.append(checkout) }
    }
  }

  @Test(
    "kill -9 at any moment loses nothing that was promised and doubles only what was in flight (R1, R3, R9)",
    arguments: [UInt64(20_261_120)])
  func killAtAnyMoment(seed: UInt64) throws {
    let app: JSONValue = [
      "delivery": ["rate": 10_000, "concurrency": .integer(Int64(Self.concurrency))],
      "join": ["wait_for_context": "1h"],
    ]
    try withRelay(app: app) { relay, destination in
      destination.answerAll(.late(10, .taken))
      let promises = Monitor(Promises(port: relay.outside.api.port))
      let senders = try (0..<Self.senders).map { sender in
        try WorkerThread(name: "sender-\(sender)") { Self.keepSending(promises, sender: sender) }
      }
      defer {
        promises.update { $0.isOver = true }
        for sender in senders { sender.join() }
      }
      var random = SeededGenerator(seed: seed)
      /// How often what was recorded as delivered had been sent at that time: it must stay so (R3).
      var sentOnce: [String: Int] = [:]
      for _ in 0..<Self.kills {
        let goal = promises.withLock { $0.taken.count } + Int.random(in: 1...60, using: &random)
        try waitUntil("more is taken") { promises.withLock { $0.taken.count } >= goal }
        #expect(try relay.stop(SIGKILL) == 128 + SIGKILL)
        let sent = Dictionary(grouping: destination.ledger) { $0.objectID ?? "" }
        for record in try relay.receipts({ $0.state = .delivered }) {
          sentOnce[record.purchase.key.id] =
            sentOnce[record.purchase.key.id] ?? sent[record.purchase.key.id]?.count
        }
        try relay.start()
        promises.update { $0.port = relay.outside.api.port }
      }
      promises.update { $0.isOver = true }
      let taken = promises.withLock { $0.taken }
      try waitUntil("everything is delivered") {
        try relay.receipts().allSatisfy { $0.receipt?.state == .delivered }
      }
      #expect(try relay.stop() == 0)
      compare(taken, destination.ledger, sentOnce)
      let receipts = try relay.receipts()
      #expect(Set(receipts.map(\.purchase.key.id)).count == receipts.count)
      #expect(try relay.read { try $0.integrityFaults() }.isEmpty)
    }
  }

  private func compare(
    _ taken: [Checkout], _ ledger: [Destination.Entry], _ sentOnce: [String: Int]
  ) {
    let byObject = Dictionary(grouping: ledger) { $0.objectID ?? "" }
    for checkout in taken {
      let entries = byObject[checkout.subscription] ?? []
      #expect(!entries.isEmpty, "\(checkout.subscription) was promised and never came")
      #expect(Set(entries.map(\.body)).count == 1, "\(checkout.subscription) came with different bytes")
      #expect(entries.first?["ply_context"] == checkout.context)
    }
    let doubles = ledger.count - byObject.count
    #expect(doubles <= Self.kills * Self.concurrency, "\(doubles) doubles")
    for (object, count) in sentOnce {
      #expect(byObject[object]?.count == count, "\(object) was sent again after its 2xx was recorded")
    }
  }
}
