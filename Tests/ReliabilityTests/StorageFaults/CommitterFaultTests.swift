// The committer on a disk that cannot sync, and on a full one. Without threads.

import Domain
import Platform
import SQLiteStore
import SimulatedDisk
import Store
import Testing

@testable import Config
@testable import Daemon
@testable import Service

@Suite struct CommitterFaultTests {
  /// A relay without threads on a simulated disk.
  private struct Bed {
    let disk = SimulatedDisk()
    let syncFailures = Monitor(0)
    let clock = SimulatedClock()
    let core: RelayCore
    private let reserve: PartOfDisk

    init(reserveBytes: Int = 0) throws {
      let syncFailures = syncFailures
      reserve = PartOfDisk(disk: disk, bytes: reserveBytes)
      let dependencies = RelayDependencies(
        shared: Dependencies(log: Log(level: .error, clock: clock) { _ in }, clock: clock),
        transport: SimulatedTransport(clock, to: SimulatedDestinations(seed: 1)),
        onSyncFailure: { _ in syncFailures.withLock { $0 += 1 } })
      let app = AppConfiguration(
        slug: "shop", client: .open,
        stripe: .init(webhookSecrets: [Secret("whsec_test")], reference: .user),
        purchasely: .init(url: "http://127.0.0.1:9/", apiKey: Secret("key")))
      let engine = SQLiteEngine(
        owner: disk.path(), reserve: reserve, log: dependencies.log, onSyncFailure: dependencies.onSyncFailure
      )
      core = try RelayCore(Configuration(database: .file(disk.path()), apps: [app]), engine, dependencies)
    }

    /// Random, so that compression leaves it as long as it is.
    private static let text: String = {
      var random = SeededGenerator(seed: 1)
      return String(
        decoding: (0..<8000).map { _ in UInt8.random(in: 33...126, using: &random) }, as: UTF8.self)
    }()

    /// The app posts a context.
    /// - Returns: false when the committer refuses it; otherwise the answer is stored in `answers`.
    func post(
      _ number: Int, from origin: Committer.Origin = .external(app: "shop"),
      _ answers: Monitor<[Int: Bool]> = Monitor([:])
    ) -> Bool {
      let id: ContextID = "ctx_\(String(repeating: "0", count: 20))\(100_000 + number)"
      let command = IngestContext(
        app: "shop", userID: "user-\(number)",
        blob: ContextBlob(text: "\(number) \(Self.text)", priceID: nil), id: id)
      return core.committer.submit(command, from: origin) { result in
        answers.withLock { $0[number] = (try? result.get()) != nil }
      }
    }

    func giveUpReserve() { reserve.release() }

    func contexts() throws -> Int64? {
      let connection = try Connection(path: disk.path(), mode: .readOnly, busyTimeout: .zero)
      return try connection.integer("SELECT count(*) FROM contexts")
    }
  }

  /// Reserved space of the disk, unavailable while it is held.
  private struct PartOfDisk: SpaceReserve {
    let disk: SimulatedDisk
    let bytes: Int
    private let isHeld = Monitor(true)

    func acquire() -> SpaceAcquired {
      isHeld.withLock { isHeld in
        guard !isHeld, let capacity = disk.capacity else { return .held }
        guard capacity - disk.usedBytes >= bytes + bytes / 4 else { return .noSpace }
        disk.capacity = capacity - bytes
        isHeld = true
        return .held
      }
    }

    func release() {
      isHeld.withLock { isHeld in
        if isHeld, let capacity = disk.capacity { disk.capacity = capacity + bytes }
        isHeld = false
      }
    }
  }

  @Test func `After a failed sync nothing more is acknowledged, not even waiting commands (R1)`() throws {
    let bed = try Bed()
    let answers = Monitor<[Int: Bool]>([:])
    #expect(bed.post(0, answers))
    #expect(bed.core.committer.commitWaiting())
    #expect(answers.withLock { $0 } == [0: true])
    let count = Committer.batchMax + 100
    for number in 1...count { #expect(bed.post(number, from: .internal, answers)) }
    bed.disk.fail(.sync, nth: 1)
    #expect(bed.core.committer.commitWaiting())
    #expect(bed.syncFailures.withLock { $0 } == 1)
    #expect(answers.withLock { $0.count == count + 1 && $0.values.filter(\.self).count == 1 })
    #expect(!bed.post(count + 1))
    #expect(!bed.post(count + 2, from: .internal))
    #expect(!bed.core.committer.commitWaiting())
    #expect(bed.core.committer.refusal(for: "shop") == .stopping)
    var random = SeededGenerator(seed: 3)
    bed.disk.crash(random: &random)
    #expect(try #require(try bed.contexts()) >= 1)
  }

  @Test func `A checkpoint that cannot be synced is reported after the answers, which are correct`() throws {
    let disk = SimulatedDisk()
    let writer = try StoreWriter(path: disk.path(), role: .owner, rules: [:], checkpointPages: 1)
    let answered = Monitor(false)
    let command = IngestContext(
      app: "shop", userID: "u", blob: ContextBlob(text: "blob", priceID: nil), id: "ctx_1")
    let submission = Submission(command) { result in
      // The log is synced at the commit; the next sync belongs to the checkpoint.
      disk.fail(.sync, nth: 1)
      answered.withLock { $0 = (try? result.get()) != nil }
    }
    let result = writer.apply([submission], now: Timestamp(unixMilliseconds: 1))
    #expect(answered.withLock { $0 })
    #expect(result.fault?.kind == .syncFailed)
    var random = SeededGenerator(seed: 1)
    disk.crash(random: &random)
    let connection = try Connection(path: disk.path(), mode: .readWrite, busyTimeout: .zero)
    #expect(try connection.integer("SELECT count(*) FROM contexts") == 1)
  }

  @Test func `Waiting requests do not use the released reserve of a full disk`() throws {
    let bed = try Bed(reserveBytes: 1 << 20)
    let answers = Monitor<[Int: Bool]>([:])
    // The first batch fills the disk; more requests wait than one batch holds.
    let count = 3 * Committer.batchMax
    for number in 0..<count {
      #expect(bed.post(number, from: .external(app: "shop"), answers))
      if number % 2 == 0 { #expect(bed.post(count + number, from: .external(app: "other"), answers)) }
    }
    bed.disk.capacity = bed.disk.usedBytes + 100_000
    #expect(bed.core.committer.commitWaiting())
    #expect(!bed.core.committer.commitWaiting())
    #expect(bed.core.committer.depth == 0)
    #expect(answers.withLock { $0.count } == count + count / 2)
    #expect(bed.post(0, from: .internal, answers))
    #expect(bed.core.committer.commitWaiting())
    #expect(answers.withLock { $0[0] } == true)
  }

  @Test func `After a start on a nearly full disk no requests are accepted until there is space`() throws {
    let bed = try Bed(reserveBytes: 1 << 20)
    bed.giveUpReserve()
    bed.disk.capacity = bed.disk.usedBytes + (1 << 19)
    bed.core.committer.checkSpace()
    #expect(bed.core.committer.refusal(for: "shop") == .diskFull)
    bed.disk.capacity = bed.disk.usedBytes + (2 << 20)
    bed.core.committer.checkSpace()
    #expect(bed.core.committer.refusal(for: "shop") == nil)
  }

  @Test("Space that retention frees inside of the database makes requests accepted again on a full disk")
  func freePages() throws {
    let bed = try Bed(reserveBytes: 1 << 20)
    let answers = Monitor<[Int: Bool]>([:])
    for number in 0..<4000 {
      #expect(bed.post(number, from: .internal, answers))
    }
    while bed.core.committer.commitWaiting() {}
    let guest = try StoreWriter(path: bed.disk.path(), role: .guest, rules: [:])
    let cutoff = Timestamp(unixMilliseconds: .max)
    var row: Int64? = 0
    while let after = row {
      let outcome = try guest.apply(Retain(table: .contexts, cutoff: cutoff, afterRow: after), now: cutoff)
      row = outcome.nextRow
    }
    bed.giveUpReserve()
    bed.disk.capacity = bed.disk.usedBytes + (1 << 20)
    bed.core.committer.checkSpace()
    #expect(bed.core.committer.refusal(for: "shop") == .diskFull)
    while bed.core.committer.commitWaiting() {}
    bed.core.committer.checkSpace()
    #expect(bed.core.committer.refusal(for: "shop") == nil)
  }

  @Test("On a full disk requests are refused, inside commands continue, and space ends the refusals")
  func fullDisk() throws {
    let bed = try Bed(reserveBytes: 1 << 20)
    let answers = Monitor<[Int: Bool]>([:])
    bed.disk.capacity = bed.disk.usedBytes + 500_000
    var posted = 0
    while bed.core.committer.refusal(for: "shop") == nil, posted < 1000 {
      #expect(bed.post(posted, answers))
      #expect(bed.core.committer.commitWaiting())
      posted += 1
    }
    #expect(posted > 10)
    #expect(bed.core.committer.refusal(for: "shop") == .diskFull)
    #expect(bed.core.committer.isDiskFull)
    #expect(!bed.post(posted, answers))
    // Every context is stored except the one that filled the disk.
    #expect(answers.withLock { $0.values.filter(\.self).count } == posted - 1)
    for number in 2000..<2020 { #expect(bed.post(number, from: .internal, answers)) }
    #expect(bed.core.committer.commitWaiting())
    #expect(answers.withLock { answers in (2000..<2020).allSatisfy { answers[$0] == true } })
    bed.core.committer.checkSpace()
    #expect(bed.core.committer.isDiskFull, "the reserve itself is not the space that was waited for")
    bed.disk.capacity = (bed.disk.capacity ?? 0) + (2 << 20)
    bed.core.committer.checkSpace()
    #expect(!bed.core.committer.isDiskFull)
    #expect(bed.core.committer.fault == nil)
    #expect(bed.post(3000, answers))
    #expect(bed.core.committer.commitWaiting())
    #expect(answers.withLock { $0[3000] } == true)
    #expect(try bed.contexts() == Int64(answers.withLock { $0.values.filter(\.self).count }))
    #expect(bed.syncFailures.withLock { $0 } == 0)
  }
}
