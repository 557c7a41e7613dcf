// Regressions that failing disks and failing allocations found, one test each.

import Domain
import SQLiteStore
import SimulatedDisk
import Store
import TestSupport
import Testing

@Suite("Regressions of storage")
struct StorageRegressionTests {
  private static let rules: [AppSlug: AppRules] = [
    "ios": AppRules(join: JoinPolicy(), processors: .stripe, compose: { _ in [] })
  ]
  private static let now = Timestamp(unixMilliseconds: 1_800_000_000_000)

  private static func writer(on disk: SimulatedDisk) throws -> StoreWriter {
    try StoreWriter(path: disk.path(), role: .owner, rules: rules)
  }

  @Test(
    "A database that could not be read while its log was enabled does not count as one with a log (R1)")
  func logThatIsNotThere() throws {
    var opened = 0
    for nth in 1...40 {
      let disk = SimulatedDisk()
      disk.fail(.read, nth: nth)
      // The open may fail; that is not tested here.
      guard let writer = try? Self.writer(on: disk) else { continue }
      disk.heal()
      _ = try writer.apply(SaveBreaker(app: "ios", breaker: Breaker(failures: 3)), now: Self.now)
      let file = try Connection(path: disk.path(), mode: .readOnly, busyTimeout: .zero)
      _ = try file.integer("SELECT count(*) FROM sqlite_schema")
      #expect(try file.text("PRAGMA journal_mode") == "wal", "read \(nth)")
      opened += 1
    }
    #expect(opened > 0)
  }

  @Test("A breaker that was rolled back is written by the next command, without a read in between (R9)")
  func breakerThatWasUndone() throws {
    let disk = SimulatedDisk()
    let writer = try Self.writer(on: disk)
    disk.detach(at: .write, nth: 1)
    let command = SaveBreaker(app: "ios", breaker: Breaker(failures: 7))
    #expect(throws: StoreFault.self) { try writer.apply(command, now: Self.now) }
    disk.heal()
    try writer.apply(command, now: Self.now)
    #expect(
      try StoreReader(path: disk.path()).breakers() == [
        AppDestination("ios", "purchasely"): Breaker(failures: 7)
      ])
  }

  @Test("A transaction that could not be rolled back for lack of memory does not block later ones (R8)")
  func transactionThatCouldNotBeUndone() async {
    await #expect(processExitsWith: .success) {
      try #require(FailingMemory.install())
      let disk = SimulatedDisk()
      let writer = try Self.writer(on: disk)
      let command = SaveBreaker(app: "ios", breaker: Breaker(failures: 7))
      var failed = 0
      for nth in 1...200 {
        FailingMemory.fail(nth: nth, forEver: true)
        do throws(StoreFault) {
          try writer.apply(command, now: Self.now)
        } catch {
          failed += 1
        }
        FailingMemory.heal()
        try writer.apply(SaveBreaker(app: "ios", breaker: Breaker(failures: nth)), now: Self.now)
      }
      #expect(failed > 3)
    }
  }
}
