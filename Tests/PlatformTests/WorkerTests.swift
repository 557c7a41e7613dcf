// The thread of every worker.

import Formats
import Platform
import Testing

@Suite("A worker") struct WorkerTests {
  private struct Inbox: WorkerInbox {
    var numbers: [Int] = []
    var isStopping = false
  }

  /// Echoes what it reads, until it is stopped.
  private static func run(_ worker: Worker<Inbox>, into read: Monitor<[[Int]]>) {
    while true {
      let (numbers, isStopping) = worker.read { inbox in
        defer { inbox.numbers = [] }
        return (inbox.numbers, inbox.isStopping)
      }
      if !numbers.isEmpty { read.update { $0.append(numbers) } }
      if isStopping { return }
      worker.wait()
    }
  }

  @Test func `A message wakes it, and messages before a stop are still read`() throws {
    let worker = Worker("test", inbox: Inbox())
    let read = Monitor<[[Int]]>([])
    try worker.start { Self.run(worker, into: read) }
    worker.post { $0.numbers.append(1) }
    let first: [Int]? = read.wait(until: MonotonicInstant.now().advanced(by: .seconds(300))) { $0.first }
    #expect(first == [1])
    worker.post { $0.numbers.append(2) }
    worker.stop()
    #expect(read.withLock { $0.flatMap(\.self) } == [1, 2])
  }

  @Test func `Of several unread messages only the first interrupts its wait`() {
    let interrupts = Monitor(0)
    let worker = Worker("test", inbox: Inbox()) { interrupts.update { $0 += 1 } }
    for number in 0..<3 { worker.post { $0.numbers.append(number) } }
    #expect(interrupts.withLock { $0 } == 1)
    #expect(worker.read { $0.numbers } == [0, 1, 2])
    worker.post { $0.numbers = [] }
    #expect(interrupts.withLock { $0 } == 2)
  }

  @Test func `An irrelevant offer does not wake it`() {
    let interrupts = Monitor(0)
    let worker = Worker("test", inbox: Inbox()) { interrupts.update { $0 += 1 } }
    worker.offer { inbox in
      inbox.numbers.append(1)
      return false
    }
    #expect(interrupts.withLock { $0 } == 0)
    worker.offer { inbox in
      inbox.numbers.append(2)
      return true
    }
    #expect(interrupts.withLock { $0 } == 1)
    #expect(worker.withInbox { $0.numbers } == [1, 2])
  }

  @Test func `A wait ends at its deadline, and at once when there is something unread`() {
    let worker = Worker("test", inbox: Inbox())
    let began = MonotonicInstant.now()
    worker.wait(until: began.advanced(by: .milliseconds(20)))
    #expect(MonotonicInstant.now() >= began.advanced(by: .milliseconds(20)))
    worker.post { $0.numbers.append(1) }
    worker.wait(until: MonotonicInstant.now().advanced(by: .hours(1)))
    #expect(worker.read { $0.numbers } == [1])
  }

  @Test func `A stop that was read with the other messages still ends each wait`() {
    let worker = Worker("test", inbox: Inbox())
    worker.requestStop()
    _ = worker.read { $0.numbers }
    let began = MonotonicInstant.now()
    worker.wait(until: began.advanced(by: .seconds(60)))
    #expect(MonotonicInstant.now().duration(since: began) < .seconds(30))
  }

  @Test func `A worker can be stopped twice, and without having been started`() throws {
    let worker = Worker("test", inbox: Inbox())
    worker.stop()
    #expect(worker.isStopping)
    let other = Worker("test", inbox: Inbox())
    try other.start { Self.run(other, into: Monitor([])) }
    other.stop()
    other.stop()
    #expect(other.isStopping)
  }
}
