// The monitor, with which threads share state.

import Platform
import Testing

@Suite("A monitor") struct MonitorTests {
  private static func after(_ duration: Duration) -> MonotonicInstant {
    MonotonicInstant.now().advanced(by: duration)
  }

  private struct Contended {
    var sum = 0
    var inside = 0
    var worst = 0

    mutating func visit() {
      inside += 1
      worst = max(worst, inside)
      sum += 1
      inside -= 1
    }
  }

  @Test func `Only one of many threads is inside at a time`() throws {
    let monitor = Monitor(Contended())
    let threads = try (0..<8).map { number in
      try WorkerThread(name: "contender-\(number)") {
        for round in 0..<5000 {
          if round % 2 == 0 { monitor.withLock { $0.visit() } } else { monitor.update { $0.visit() } }
        }
      }
    }
    for thread in threads { thread.join() }
    let end = monitor.withLock { ($0.sum, $0.worst, $0.inside) }
    #expect(end == (40_000, 1, 0))
  }

  @Test func `A wait ends with the update that it waits for`() throws {
    let monitor = Monitor(0)
    let thread = try WorkerThread(name: "counter") { for _ in 0..<1000 { monitor.update { $0 += 1 } } }
    let seen = monitor.wait(until: Self.after(.seconds(10))) { $0 == 1000 ? $0 : nil }
    thread.join()
    #expect(seen == 1000)
  }

  @Test func `One update wakes everyone who waits`() throws {
    let monitor = Monitor(false)
    let woken = Monitor(0)
    let threads = try (0..<20).map { _ in
      try WorkerThread(name: "waiter") {
        if monitor.wait(until: Self.after(.seconds(10)), { $0 ? true : nil }) != nil {
          woken.update { $0 += 1 }
        }
      }
    }
    monitor.update { $0 = true }
    for thread in threads { thread.join() }
    #expect(woken.withLock { $0 } == 20)
  }

  @Test func `Threads pass a value back and forth without losing an update`() throws {
    let monitor = Monitor(0)
    let rounds = 2000
    let threads = try (0..<2).map { parity in
      try WorkerThread(name: "player-\(parity)") {
        for _ in 0..<rounds {
          let turn: Bool? = monitor.wait(until: Self.after(.seconds(10))) { $0 % 2 == parity ? true : nil }
          guard turn != nil else { return }
          monitor.update { $0 += 1 }
        }
      }
    }
    for thread in threads { thread.join() }
    #expect(monitor.withLock { $0 } == 2 * rounds)
  }

  @Test func `A wait ends at its deadline, and checks its condition once more`() {
    let monitor = Monitor(0)
    let start = MonotonicInstant.now()
    var asked = 0
    let result: Bool? = monitor.wait(until: start.advanced(by: .milliseconds(50))) { _ in
      asked += 1
      return nil
    }
    #expect(result == nil)
    #expect(asked >= 2)
    #expect(
      (Duration.milliseconds(50)..<Duration.seconds(5)).contains(
        MonotonicInstant.now().duration(since: start)))
  }

  @Test(arguments: [0, -1, .min] as [Int64])
  func `A deadline that is past, or before the clock's start, ends the wait at once`(nanoseconds: Int64) {
    let monitor = Monitor(7)
    let start = MonotonicInstant.now()
    let never: Bool? = monitor.wait(until: MonotonicInstant(nanoseconds: nanoseconds)) { _ in nil }
    #expect(never == nil)
    #expect(monitor.wait(until: MonotonicInstant(nanoseconds: nanoseconds)) { $0 } == 7)
    #expect(MonotonicInstant.now().duration(since: start) < .seconds(5))
  }

  @Test func `The latest possible deadline works like any other`() throws {
    let monitor = Monitor(false)
    let thread = try WorkerThread(name: "waker") { monitor.update { $0 = true } }
    #expect(monitor.wait(until: MonotonicInstant(nanoseconds: .max)) { $0 ? true : nil } == true)
    thread.join()
  }

  @Test func `An error inside leaves the monitor open for the next`() {
    let monitor = Monitor(1)
    let fault = SystemError(code: 1, operation: "test")
    #expect(throws: fault) { try monitor.withLock { _ throws(SystemError) in throw fault } }
    #expect(monitor.withLock { $0 } == 1)
  }
}
