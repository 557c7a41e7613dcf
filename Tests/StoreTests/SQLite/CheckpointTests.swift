// Tests how the log is kept short while commits go on: background passes move most of it, the writer the
// rest.

import Domain
import FoundationEssentials
import Platform
import SQLiteStore
import Store
import Testing

/// Runs each pass at once, or returns a given result.
private final class Passes: BackgroundCheckpoints {
  private let checkpoint: Monitor<BackgroundCheckpoint?>
  private let begun = Monitor(0)
  private let result = Monitor<Result<Int, StoreFault>?>(nil)

  /// - Parameter path: the database; nil for passes that never end.
  init(path: String?) throws {
    checkpoint = Monitor(nil)
    guard let path else { return }
    let opened = try BackgroundCheckpoint(path: path)
    checkpoint.withLock { $0 = opened }
  }

  var count: Int { begun.withLock { $0 } }

  func say(_ answer: Result<Int, StoreFault>) { result.withLock { $0 = answer } }

  func begin() {
    begun.withLock { $0 += 1 }
    let answer = checkpoint.withLock { checkpoint -> Result<Int, StoreFault>? in
      guard let checkpoint else { return nil }
      do throws(StoreFault) {
        return .success(try checkpoint.pass())
      } catch {
        return .failure(error)
      }
    }
    if let answer { say(answer) }
  }

  func popResult() -> Result<Int, StoreFault>? {
    result.withLock { result in
      defer { result = nil }
      return result
    }
  }
}

@Suite("The log of the store")
struct CheckpointTests {
  private let directory: URL
  private var path: String { directory.appending(path: "relay.db").path }

  init() throws { directory = try makeDirectory() }

  private func open(_ passes: Passes?, checkpointPages: Int = 64) throws -> StoreWriter {
    try StoreWriter(
      path: path, role: .owner, rules: TestStore.rules, random: SeededGenerator(seed: 1),
      checkpointPages: checkpointPages, background: passes)
  }

  /// Creates the database.
  private func prepare() throws { _ = try open(nil) }

  private func post(_ number: Int, _ writer: StoreWriter) -> StoreFault? {
    let command = IngestContext(
      app: "ios", userID: "user-\(number)",
      blob: ContextBlob(text: String(repeating: "x", count: 5000), priceID: nil), id: "ctx_\(number)")
    return writer.apply([Submission(command) { _ in }], now: TestStore.start).fault
  }

  private var logBytes: Int {
    get throws {
      let attributes = try FileManager.default.attributesOfItem(atPath: path + "-wal")
      return try #require(attributes[.size] as? Int ?? (attributes[.size] as? UInt64).map(Int.init))
    }
  }

  @Test func `It is moved during commits, and restarted, so it does not grow`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    try prepare()
    let passes = try Passes(path: path)
    let writer = try open(passes)
    for number in 0..<60 { #expect(post(number, writer) == nil) }
    let bytes = try logBytes
    for number in 60..<600 { #expect(post(number, writer) == nil) }
    #expect(passes.count > 20)
    #expect(try logBytes <= max(bytes, 2 * 64 * 4200))
    let reader = try Connection(path: path, mode: .readOnly, busyTimeout: .zero)
    #expect(try reader.integer("SELECT count(*) FROM contexts") == 600)
    #expect(try reader.text("PRAGMA integrity_check") == "ok")
  }

  @Test func `One pass is under way at a time, however long it takes`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let passes = try Passes(path: nil)
    let writer = try open(passes)
    for number in 0..<200 { #expect(post(number, writer) == nil) }
    #expect(passes.count == 1)
    passes.say(.success(10))
    #expect(post(200, writer) == nil)
    // The log was too long for another pass: the writer moved it.
    #expect(passes.count == 1)
    for number in 201..<260 { #expect(post(number, writer) == nil) }
    #expect(passes.count == 2)
  }

  @Test func `A pass that failed is retried, and done by the writer when the log is long`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let passes = try Passes(path: nil)
    let writer = try open(passes)
    for number in 0..<50 where passes.count == 0 { #expect(post(number, writer) == nil) }
    let error = StoreFault(.inputOutput, operation: "test", reason: "test")
    passes.say(.failure(error))
    let count = passes.count
    for number in 100..<300 {
      #expect(post(number, writer) == nil)
      passes.say(.failure(error))
    }
    #expect(passes.count > count + 10)
    #expect(try logBytes <= 2 * 64 * 4200)
    let before = passes.count
    for number in 300..<400 where passes.count == before { #expect(post(number, writer) == nil) }
    passes.say(.failure(StoreFault(.syncFailed, operation: "test", reason: "test")))
    #expect(post(400, writer)?.kind == .syncFailed)
  }

  @Test func `Without writes a pass moves the whole log, and reports its size`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let writer = try open(nil, checkpointPages: 1_000_000)
    for number in 0..<20 { #expect(post(number, writer) == nil) }
    let checkpoint = try BackgroundCheckpoint(path: path)
    let moved = try checkpoint.pass()
    #expect(moved >= 40)
    // The database file is complete without its log.
    try FileManager.default.copyItem(atPath: path, toPath: path + ".copy")
    let copy = try Connection(path: path + ".copy", mode: .readOnly, busyTimeout: .zero)
    #expect(try copy.integer("SELECT count(*) FROM contexts") == 20)
    #expect(post(20, writer) == nil)
  }

  @Test func `A pass that a reader blocks reports the rest, so that the reader can stop`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let writer = try open(nil, checkpointPages: 1_000_000)
    #expect(post(0, writer) == nil)
    let checkpoint = try BackgroundCheckpoint(path: path)
    _ = try checkpoint.pass()
    let reader = try Connection(path: path, mode: .readOnly, busyTimeout: .zero)
    try reader.execute("BEGIN")
    #expect(try reader.integer("SELECT count(*) FROM contexts") == 1)
    for number in 1..<20 { #expect(post(number, writer) == nil) }
    _ = try checkpoint.pass()
    #expect(checkpoint.pagesLeft >= 19)
    try reader.execute("ROLLBACK")
    _ = try checkpoint.pass()
    #expect(checkpoint.pagesLeft == 0)
  }

  @Test func `An interrupted quick check reports no damage, and can start again`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let writer = try open(nil, checkpointPages: 1_000_000)
    for number in 0..<200 { #expect(post(number, writer) == nil) }
    let check = try QuickCheck(path: path)
    #expect(try check.tables().contains("contexts"))
    let isOver = Monitor(false)
    let interrupt = check.interrupt
    let thread = try WorkerThread(name: "interrupter") {
      while !isOver.withLock({ $0 }) { interrupt() }
    }
    var outcome = QuickCheck.Outcome.sound
    while outcome == .sound { outcome = try check.check("contexts") }
    isOver.withLock { $0 = true }
    thread.join()
    #expect(outcome == .interrupted)
    #expect(try check.check("contexts") == .sound)
  }

  @Test func `Without a database no pass runs`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    #expect(throws: StoreFault.self) { try BackgroundCheckpoint(path: path) }
  }
}
