// Waits with deadlines; the only place of these tests where they sleep. Any thread that may block.

import Formats
import Glibc
import Platform

/// A condition that was not met in time.
struct NeverHappened: Error, CustomStringConvertible {
  let what: String
  var description: String { "never happened: \(what)" }
}

enum Waiting {
  /// Much longer than any condition needs, even under a sanitizer on a busy machine.
  static let patience: Duration = .minutes(5)

  static func pause(_ time: Duration = .milliseconds(5)) {
    _ = poll(nil, 0, Int32(clamping: time.milliseconds))
  }
}

/// Calls `ask` until it returns a value, less and less often: asking takes CPU that the programs need.
/// - Throws: `NeverHappened` when it returns none in time, and the errors of `ask`.
func waitFor<Result>(
  _ what: String, within time: Duration = Waiting.patience, _ ask: () throws -> Result?
) throws -> Result {
  let deadline = MonotonicInstant.now().advanced(by: time)
  var pause: Duration = .milliseconds(1)
  while true {
    if let result = try ask() { return result }
    guard MonotonicInstant.now() < deadline else { throw NeverHappened(what: what) }
    Waiting.pause(pause)
    pause = min(pause * 2, .milliseconds(16))
  }
}

/// Calls `condition` until it holds.
func waitUntil(
  _ what: String, within time: Duration = Waiting.patience,
  _ condition: () throws -> Bool
) throws {
  try waitFor(what, within: time) { try condition() ? () : nil }
}

/// Runs `body` on this many threads at once and waits for all of them.
/// - Returns: the results, in order.
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
