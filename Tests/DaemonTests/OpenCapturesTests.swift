// The order in which captures become due, without a server.

import Domain
import Partners
import Platform
public import Store
import TestSupport
import Testing

@testable import Daemon

@Suite("The captures in memory")
struct OpenCapturesTests {
  private static let place = AppProcessor("shop", "toy")

  private static func moment(_ seconds: Int64) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: seconds * 1_000_000_000)
  }

  @Test func `A queue gives what is due, the earliest first, whatever the order in which it came`() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<50 {
      var queue = DueQueue<Int64>()
      let times = (0..<Int.random(in: 0..<60, using: &random)).map { _ in
        Int64.random(in: 0..<40, using: &random)
      }
      for time in times { queue.add(time, at: Self.moment(time)) }
      #expect(queue.nextDueAt == times.min().map(Self.moment))
      var popped: [Int64] = []
      while let next = queue.pop(now: Self.moment(20)) { popped.append(next.value) }
      #expect(popped == times.filter { $0 <= 20 }.sorted())
      #expect(queue.nextDueAt == times.filter { $0 > 20 }.min().map(Self.moment))
    }
  }

  private static func entry(_ row: CaptureReference) -> CaptureEntry {
    let start = Timestamp(unixMilliseconds: 1_800_000_000_000)
    let payment = CapturablePayment(
      key: ToyProcessor.order("o\(row.row)"), facts: PaymentFacts(), startedAt: start, orderedAt: start)
    return CaptureEntry(row, of: place, CaptureRun(payment, Capture(orderedAt: start)))
  }

  @Test func `A capture is due once, at the time that was set last, and not while something is under way`() {
    var captures = OpenCaptures()
    captures[1] = Self.entry(1)
    captures.schedule(1, at: Self.moment(5))
    captures.schedule(1, at: Self.moment(9))
    func pop(_ seconds: Int64) -> CaptureReference? {
      captures.popDue(of: Self.place, isAwaited: false, now: Self.moment(seconds))
    }
    #expect(pop(8) == nil)
    #expect(pop(9) == 1)
    #expect(pop(100) == nil)
    captures.schedule(1, at: Self.moment(9))
    captures[1]?.activity = .calling
    #expect(pop(100) == nil)
    #expect(captures.popDue(of: AppProcessor("other", "toy"), isAwaited: false, now: Self.moment(100)) == nil)
  }

  @Test func `What was removed is not due; what is under way remains until it ends`() {
    var captures = OpenCaptures()
    for row in [1, 2] as [CaptureReference] {
      captures[row] = Self.entry(row)
      captures.schedule(row, at: Self.moment(1))
    }
    captures[2]?.activity = .calling
    #expect(captures.remove(Self.place).isEmpty)
    #expect(captures[1] == nil)
    #expect(captures[2] != nil)
    #expect(captures.places.isEmpty)
    captures[1] = Self.entry(1)
    captures.schedule(1, at: Self.moment(7))
    #expect(captures.popDue(of: Self.place, isAwaited: false, now: Self.moment(6)) == nil)
    #expect(captures.popDue(of: Self.place, isAwaited: false, now: Self.moment(7)) == 1)
  }

  private static func request(_ seconds: Int64, _ answers: Monitor<[Int]>) -> AwaitedCapture {
    let client = BackendClient(
      requestID: "req_1", route: "toy_capture",
      answer: { answer in answers.update { $0.append(answer.status) } }, refuse: { _ in })
    return AwaitedCapture(client: client, answerBy: moment(seconds))
  }

  @Test func `A capture for which an app waits is in its queue until nobody waits for it any more`() {
    let answers = Monitor<[Int]>([])
    var captures = OpenCaptures()
    captures[1] = Self.entry(1)
    captures.schedule(1, at: Self.moment(5))
    captures.add(Self.request(70, answers), to: 1)
    captures.add(Self.request(80, answers), to: 1)
    func pop(isAwaited: Bool, _ seconds: Int64) -> CaptureReference? {
      captures.popDue(of: Self.place, isAwaited: isAwaited, now: Self.moment(seconds))
    }
    #expect(pop(isAwaited: false, 60) == nil, "its first element is void")
    #expect(captures.nextDueAt(of: Self.place, isAwaited: true) == Self.moment(5))
    #expect(pop(isAwaited: true, 60) == 1)
    captures.schedule(1, at: Self.moment(61))
    #expect(captures.nextDeadline == Self.moment(70))
    #expect(captures.popOverdue(now: Self.moment(69)).isEmpty)
    #expect(captures.popOverdue(now: Self.moment(79)).count == 1)
    #expect(captures[1]?.waiting.count == 1)
    #expect(captures.popOverdue(now: Self.moment(80)).count == 1)
    #expect(pop(isAwaited: true, 90) == nil, "a customer who pays now does not wait for it")
    #expect(pop(isAwaited: false, 90) == 1)
    #expect(captures.nextDeadline == nil)
  }

  @Test func `Everybody who waits is answered once, and the capture stays`() {
    let answers = Monitor<[Int]>([])
    var captures = OpenCaptures()
    captures[1] = Self.entry(1)
    for second in [1, 2] as [Int64] { captures.add(Self.request(second, answers), to: 1) }
    #expect(captures.removeWaiting().count == 2)
    #expect(captures.removeWaiting().isEmpty)
    #expect(captures.popOverdue(now: Self.moment(9)).isEmpty)
    #expect(captures[1] != nil)
  }

  @Test("Half of an app's places is for captures for which nobody waits, and there is always one of each")
  func places() {
    for (apps, all) in [(1, 32), (8, 32), (16, 16), (64, 4), (128, 2), (1000, 2)] {
      func count(_ divisor: Int) -> Int {
        var places = BackendPlaces(apps: apps, divisor: divisor)
        var count = 0
        while places.acquire("shop") { count += 1 }
        return count
      }
      #expect(count(1) == all)
      #expect(count(2) == all / 2)
    }
  }
}

extension CaptureReference: ExpressibleByIntegerLiteral {
  public init(integerLiteral number: Int64) {
    self.init(row: CaptureRowID(number), orderedAt: Timestamp(unixMilliseconds: 0))
  }
}
