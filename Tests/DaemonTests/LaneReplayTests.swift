// Replays and new receipts in one lane: their order, and that neither blocks the other.

import Domain
import Testing

@testable import Daemon

@Suite("A lane with replays") struct LaneReplayTests {
  private typealias Bed = LaneTests.Bed
  private static let delivered = Verdict.delivered(importID: nil)

  private static func bed(concurrency: Int) throws -> Bed {
    var bed = try Bed(concurrency: concurrency)
    bed.lane.note(replaysDueAt: bed.now)
    return bed
  }

  @Test func `New receipts go before replays, also before those that were due earlier`() throws {
    var bed = try Self.bed(concurrency: 4)
    #expect(bed.admit(new: [1, 2], replays: [100, 101, 102, 103]) == [1, 2, 100, 101])
    #expect(bed.room == 0)
    bed.end(100, Self.delivered)
    #expect(bed.admit(new: [3], replays: [102, 103]) == [3])
  }

  @Test func `Replays use at most three quarters of the places, so a purchase starts at once`() throws {
    for (concurrency, replays) in [(1, 1), (2, 1), (3, 2), (4, 3), (8, 6), (100, 75)] {
      var bed = try Self.bed(concurrency: concurrency)
      let many = (Int64(0)..<200).map { PurchaseRowID(100 + $0) }
      #expect(bed.admit(new: [], replays: many).count == replays, "of \(concurrency)")
      #expect(!bed.lane.mayHave(replay: true, now: bed.now))
      guard concurrency > 1 else { continue }
      #expect(bed.room > 0, "of \(concurrency)")
      #expect(bed.admit(new: [1], replays: many) == [1], "of \(concurrency)")
    }
  }

  @Test func `Replays continue under any load: one after nine new receipts`() throws {
    var bed = try Self.bed(concurrency: 1)
    var started: [PurchaseRowID] = []
    for number: Int64 in 0..<30 {
      started += bed.admit(new: [PurchaseRowID(number)], replays: [PurchaseRowID(100 + number)])
      bed.end(started[Int(number)], Self.delivered)
    }
    #expect(started.filter { $0 >= 100 }.count == 3)
    #expect(started.prefix(9).allSatisfy { $0 < 100 })
    #expect(started.count == 30)
  }

  @Test func `New receipts that kept no replay waiting do not count against the next one`() throws {
    var bed = try Self.bed(concurrency: 1)
    for number: Int64 in 1...9 {
      #expect(bed.admit(new: [PurchaseRowID(number)], replays: []).count == 1)
      bed.end(PurchaseRowID(number), Self.delivered)
    }
    #expect(bed.admit(new: [10], replays: [100]) == [10])
  }

  @Test func `A replay whose outcome is being written leaves its place to another one`() throws {
    var bed = try Self.bed(concurrency: 4)
    #expect(bed.admit(new: [], replays: [100, 101, 102, 103]) == [100, 101, 102])
    bed.lane.judge(Self.delivered, row: 100, now: bed.now)
    #expect(bed.admit(new: [], replays: [103, 104]) == [103])
  }

  @Test func `A lane that has rested learns of new receipts and of replays separately`() throws {
    var bed = try Bed()
    bed.lane.rest(until: nil)
    #expect(bed.room == 0)
    #expect(bed.wait == nil)
    bed.lane.note(replaysDueAt: Bed.at(300))
    #expect(bed.wait == 300)
    bed.lane.note(dueAt: Bed.at(100))
    #expect(bed.wait == 100)
    bed.milliseconds = 100
    #expect(bed.lane.mayHave(replay: false, now: bed.now))
    #expect(!bed.lane.mayHave(replay: true, now: bed.now))
    bed.lane.rest(until: nil)
    bed.milliseconds = 300
    #expect(bed.admit(new: [], replays: [7]) == [7])
  }

  @Test func `A replay that is due now does not wait for a new receipt that is due later`() throws {
    var bed = try Bed()
    bed.lane.rest(until: nil)
    bed.lane.note(dueAt: Bed.at(3_600_000))
    bed.lane.note(replaysDueAt: Bed.at(0))
    #expect(bed.wait == 0)
  }

  @Test func `A receipt that was replayed while it was under way is sent again when it is due (R9)`() throws {
    for isReplay in [true, false] {
      var bed = try Bed()
      bed.lane.note(replaysDueAt: bed.now)
      // The receipt changes its queue while it is under way.
      #expect(bed.admit(new: isReplay ? [1] : [], replays: isReplay ? [] : [1]) == [1])
      bed.lane.rest(until: nil)
      bed.lane.rest(until: nil, replays: true)
      let due = Lane.Due(at: Bed.at(20), isReplay: isReplay)
      bed.end(1, .retry(.status(503), retryAfter: nil), next: due)
      #expect(bed.lane.underWay.isEmpty)
      #expect(bed.wait == 20)
      bed.milliseconds = 20
      #expect(bed.lane.mayHave(replay: isReplay, now: bed.now))
      #expect(!bed.lane.mayHave(replay: !isReplay, now: bed.now))
      #expect(bed.admit(new: isReplay ? [] : [1], replays: isReplay ? [1] : []) == [1])
      // After its delivery nothing is due.
      bed.lane.rest(until: nil, replays: isReplay)
      bed.end(1, Self.delivered)
      #expect(bed.wait == nil)
    }
  }

  @Test func `A replay that is offered twice starts once (R3)`() throws {
    var bed = try Self.bed(concurrency: 8)
    #expect(bed.admit(new: [], replays: [1, 1, 2]) == [1, 2])
    #expect(bed.admit(new: [1, 2], replays: [1, 2]) == [])
  }
}
