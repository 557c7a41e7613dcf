// Waiting for what has to happen, always with an end: the one place of these tests where time passes by
// itself. Any thread that may block.

import Glibc
import Platform

/// What was waited for did not happen in time.
struct NeverHappened: Error, CustomStringConvertible {
  let what: String
  var description: String { "never happened: \(what)" }
}

enum Waiting {
  /// Far longer than anything takes here, also on a machine that is busy with something else.
  static let patienceMilliseconds: Int64 = 30_000
  private static let pauseMilliseconds: Int32 = 5

  static func pause() { _ = poll(nil, 0, pauseMilliseconds) }
}

/// Asks again and again until `ask` gives a value.
/// - Throws: `NeverHappened` when it gives none in time, and whatever `ask` throws.
func waitFor<Result>(
  _ what: String, within milliseconds: Int64 = Waiting.patienceMilliseconds, _ ask: () throws -> Result?
) throws -> Result {
  let deadline = MonotonicInstant.now().advanced(byMilliseconds: milliseconds)
  while true {
    if let result = try ask() { return result }
    guard MonotonicInstant.now() < deadline else { throw NeverHappened(what: what) }
    Waiting.pause()
  }
}

/// Asks again and again until `condition` holds.
func waitUntil(
  _ what: String, within milliseconds: Int64 = Waiting.patienceMilliseconds,
  _ condition: () throws -> Bool
) throws {
  try waitFor(what, within: milliseconds) { try condition() ? () : nil }
}

/// Runs `body` on so many threads at once and waits for all of them.
/// - Returns: what each gave, in order.
func onThreads<Result: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) throws -> Result
) throws -> [Result] {
  let results = Monitor<[Int: Swift.Result<Result, any Error>]>([:])
  var threads: [WorkerThread] = []
  for index in 0..<count {
    threads.append(
      try WorkerThread(name: "test-\(index)") {
        let result = Swift.Result { try body(index) }
        results.withLock { $0[index] = result }
      })
  }
  for thread in threads { thread.join() }
  return try results.withLock { all in try (0..<count).compactMap { try all[$0]?.get() } }
}
