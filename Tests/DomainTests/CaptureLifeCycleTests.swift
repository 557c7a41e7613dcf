// Tests the whole life cycle of captures: every event in every phase, the pauses, and restarts.

import Formats
import Testing

@testable import Domain

private let now = Timestamp(unixMilliseconds: 1_800_000_000_000)
private let soon = now + .seconds(1)
private let later = now + .seconds(30)

private func outcome(_ kind: CaptureOutcome.Kind) -> CaptureOutcome {
  CaptureOutcome(kind: kind, status: kind == .captured ? 200 : 402, body: Array(kind.rawValue.utf8))
}

/// A capture for each column of the table.
private func sample(_ column: String) -> Capture {
  var capture = Capture(orderedAt: now - .minutes(5))
  (capture.failures, capture.isInDoubt) = (2, column != "first")
  (capture.retryAt, capture.dueAt) = (now, now)
  switch column {
  case "first", "again": capture.phase = .sending
  case "check":
    // A lookup that comes at once after a failure, before the end of the pause.
    capture.phase = .lookingUp
    capture.retryAt = soon
  case "lookup": capture.phase = .lookingUp
  case "confirm":
    capture.phase = .confirming
    capture.refusal = outcome(.refused)
  case "accepted": capture.phase = .accepted
  case "ended":
    capture.phase = .ended
    capture.dueAt = nil
    capture.outcome = outcome(.captured)
  default: fatalError("no such column: \(column)")
  }
  return capture
}

private let replies: [CaptureReply] =
  CaptureOutcome.Kind.allCases.map { .ended(outcome($0)) }
  + [.nothingCaptured, .accepted, .notSent, .unclear]

private let events: [CaptureEvent] =
  replies.map(CaptureEvent.sent) + replies.map(CaptureEvent.lookedUp) + [.postponed(until: later), .awaited]

/// The name of an event's row. The switches are exhaustive, so a new event does not compile without a name.
private func name(_ event: CaptureEvent) -> String {
  func name(_ reply: CaptureReply) -> String {
    switch reply {
    case .ended(let outcome): outcome.kind.rawValue
    case .nothingCaptured: "nothing"
    case .accepted: "accepted"
    case .notSent: "not sent"
    case .unclear: "unclear"
    }
  }
  return switch event {
  case .sent(let reply): "sent, \(name(reply))"
  case .lookedUp(let reply): "found, \(name(reply))"
  case .postponed: "postponed"
  case .awaited: "awaited"
  }
}

/// The phase that follows, or the outcome; `-` means that the event is refused. The next call is due now, or
/// after the pause that was under way (`=`), after a new and longer pause (`+`), or at the event's time
/// (`>`).
private let table = """
                      first       again       check       lookup      confirm     accepted    ended
  sent, captured      captured    captured    -           -           -           -           -
  sent, declined      declined    confirming  -           -           -           -           -
  sent, refused       refused     confirming  -           -           -           -           -
  sent, unconfirmed   unconfirmed confirming  -           -           -           -           -
  sent, abandoned     confirming  confirming  -           -           -           -           -
  sent, nothing       looking_up  looking_up  -           -           -           -           -
  sent, accepted      accepted    accepted    -           -           -           -           -
  sent, not sent      looking_up+ looking_up+ -           -           -           -           -
  sent, unclear       looking_up  looking_up  -           -           -           -           -
  found, captured     -           -           captured    captured    captured    captured    -
  found, declined     -           -           declined    declined    declined    declined    -
  found, refused      -           -           refused     refused     refused     refused     -
  found, unconfirmed  -           -           unconfirmed unconfirmed unconfirmed unconfirmed -
  found, abandoned    -           -           abandoned   abandoned   abandoned   abandoned   -
  found, nothing      -           -           looking_up= sending     refused     accepted+   -
  found, accepted     -           -           accepted=   accepted+   accepted+   accepted+   -
  found, not sent     -           -           looking_up= looking_up+ confirming+ accepted+   -
  found, unclear      -           -           looking_up= looking_up+ confirming+ accepted+   -
  postponed           sending>    sending>    looking_up> looking_up> confirming> accepted>   -
  awaited             sending     sending     looking_up  looking_up  confirming  accepted    -
  """

/// One cell of the table.
private struct Cell: Sendable, CustomTestStringConvertible {
  var event: String
  var column: String
  var result: String
  var testDescription: String { "\(column), \(event)" }
}

private let rows: [(event: String, cells: [Cell])] = {
  let lines = table.split(separator: "\n")
  let columns = lines[0].split(separator: " ").map(String.init)
  return lines.dropFirst().map { line in
    let event = line.prefix(20).drop { $0 == " " }
    let name = String(event.reversed().drop { $0 == " " }.reversed())
    let results = line.dropFirst(20).split(separator: " ").map(String.init)
    return (name, zip(columns, results).map { Cell(event: name, column: $0, result: $1) })
  }
}()

private func result(of event: CaptureEvent, on capture: Capture) -> String {
  var changed = capture
  do throws(CaptureRefusal) {
    try changed.apply(event, now: now)
  } catch {
    return changed == capture ? "-" : "refused and changed"
  }
  if let outcome = changed.outcome { return outcome.kind.rawValue }
  let isCounted = changed.failures == capture.failures + 1
  let due =
    switch changed.dueAt {
    case now: ""
    case later where changed.retryAt == later && isCounted: "+"
    case later: ">"
    case soon where changed.retryAt == soon && !isCounted: "="
    default: " due at \(String(describing: changed.dueAt))"
    }
  return changed.phase.rawValue + due
}

@Suite("The life cycle of captures")
struct CaptureLifeCycleTests {
  @Test func `The table names every event and every phase`() {
    #expect(rows.map(\.event).sorted() == events.map(name).sorted())
    #expect(rows.allSatisfy { $0.cells.count == 7 })
    #expect(Set(rows[0].cells.map { sample($0.column).phase }) == Set(Capture.Phase.allCases))
    // The third failure's pause is 30 s, as `later`.
    #expect(Capture.pause(failures: 3) == later.duration(since: now))
  }

  @Test("Each event leads each phase to the table's next phase", arguments: rows.flatMap(\.cells))
  fileprivate func transition(cell: Cell) throws {
    let event = try #require(events.first { name($0) == cell.event })
    #expect(result(of: event, on: sample(cell.column)) == cell.result)
  }

  @Test("No event leaves a capture that contradicts its phase", arguments: rows.flatMap(\.cells))
  fileprivate func sound(cell: Cell) throws {
    let event = try #require(events.first { name($0) == cell.event })
    var capture = sample(cell.column)
    #expect(capture.contradiction == nil)
    try? capture.apply(event, now: now)
    #expect(capture.contradiction == nil)
  }

  @Test("A lost answer is looked up at once, and the call is made again only after the pause and a lookup")
  func lostAnswer() throws {
    var capture = Capture(orderedAt: now)
    #expect(capture.dueAt == now)
    try capture.apply(.sent(.unclear), now: now)
    #expect(capture.phase == .lookingUp)
    #expect(capture.dueAt == now)
    try capture.apply(.lookedUp(.nothingCaptured), now: soon)
    #expect(capture.phase == .lookingUp)
    #expect(capture.dueAt == now + .seconds(2))
    try capture.apply(.lookedUp(.nothingCaptured), now: now + .seconds(2))
    #expect(capture.phase == .sending)
    #expect(capture.failures == 1)
  }

  @Test(
    "While an app waits, the lookup comes now and the call at most 10 s later, but the attempts last days")
  func awaited() throws {
    func waiting(failures: Int64) throws -> Capture {
      var capture = Capture(resuming: now, failures: failures, retryAt: now + .hours(1))
      try capture.apply(.awaited, now: now)
      return capture
    }
    var capture = try waiting(failures: 8)
    #expect(capture.dueAt == now)
    try capture.apply(.lookedUp(.unclear), now: now)
    #expect(capture.failures == 8, "a lookup that comes early is no attempt")
    #expect(capture.dueAt == now + .seconds(10))
    try capture.apply(.lookedUp(.nothingCaptured), now: now + .seconds(10))
    #expect(capture.phase == .sending)
    capture = try waiting(failures: Capture.awaitedFailuresMax + 1)
    #expect(capture.dueAt == now)
    try capture.apply(.lookedUp(.unclear), now: now)
    #expect(capture.dueAt == now + .hours(1))
    let rest = Capture.failuresMax - Capture.awaitedFailuresMax
    #expect(Capture.longestPause * Int(rest) >= .days(6))
  }

  @Test func `A refusal that a lookup confirms ends the capture with the refusal's own answer`() throws {
    var capture = sample("again")
    try capture.apply(.sent(.ended(outcome(.declined))), now: now)
    try capture.apply(.lookedUp(.unclear), now: now)
    #expect(capture.outcome == nil, "a failure confirms nothing")
    try capture.apply(.lookedUp(.nothingCaptured), now: later)
    #expect(capture.outcome == outcome(.declined))
    #expect(capture.refusal == nil)
  }

  @Test func `A refusal is forgotten if the lookup finds the money captured`() throws {
    var capture = sample("again")
    try capture.apply(.sent(.ended(outcome(.refused))), now: now)
    try capture.apply(.lookedUp(.ended(outcome(.captured))), now: now)
    #expect(capture.outcome?.kind == .captured)
  }

  @Test("Failures are retried after 2 s, 10 s, 30 s, 2 min, 10 min, then hourly for 7 days, then abandoned")
  func pauses() throws {
    var capture = Capture(resuming: now, failures: 0, retryAt: now)
    var (time, pauses): (Timestamp, [Duration]) = (now, [])
    while let dueAt = capture.dueAt, pauses.count < 1000 {
      time = max(time, dueAt)
      try capture.apply(.lookedUp(.unclear), now: time)
      if let next = capture.dueAt { pauses.append(next.duration(since: time)) }
    }
    let expected: [Duration] = [.seconds(2), .seconds(10), .seconds(30), .minutes(2), .minutes(10)]
    #expect(pauses == expected + Array(repeating: .hours(1), count: 7 * 24))
    #expect(time.duration(since: now) >= .days(7))
    #expect(capture.outcome?.kind == .abandoned)
    #expect(capture.contradiction == nil)
  }

  @Test func `A call that always fails between lookups that find nothing is abandoned as well`() throws {
    var capture = Capture(orderedAt: now)
    var (time, calls) = (now, 0)
    while let dueAt = capture.dueAt, calls < 1000 {
      time = max(time, dueAt)
      if capture.phase == .sending {
        calls += 1
        try capture.apply(.sent(.unclear), now: time)
      } else {
        try capture.apply(.lookedUp(.nothingCaptured), now: time)
      }
    }
    #expect(calls == Int(Capture.failuresMax) + 1)
    #expect(capture.outcome?.kind == .abandoned)
    #expect(time.duration(since: now) >= .days(7))
  }

  @Test func `After a restart the first call is a lookup, and a refusal must be confirmed`() throws {
    var capture = Capture(resuming: now, failures: 3, retryAt: later)
    #expect(capture.phase == .lookingUp)
    #expect(capture.dueAt == later)
    try capture.apply(.lookedUp(.nothingCaptured), now: later)
    #expect(capture.phase == .sending)
    try capture.apply(.sent(.ended(outcome(.declined))), now: later)
    #expect(capture.phase == .confirming)
    let ended = Capture(resuming: now, failures: 3, retryAt: later, outcome: outcome(.declined))
    #expect(ended.phase == .ended)
    #expect(ended.dueAt == nil)
    #expect(ended.contradiction == nil)
  }

  @Test(arguments: [Int64.min, -1, .max])
  func `Numbers of failures from the database cannot trap`(failures: Int64) throws {
    var capture = Capture(resuming: now, failures: failures, retryAt: Timestamp(unixMilliseconds: .max))
    try capture.apply(.lookedUp(.unclear), now: Timestamp(unixMilliseconds: .max))
    #expect(capture.contradiction == nil)
  }

  @Test func `A capture whose call only a lookup gives begins with a lookup, without a doubt`() throws {
    var capture = Capture(orderedAt: now, needsLookup: true)
    try capture.apply(.lookedUp(.nothingCaptured), now: now)
    #expect(capture.phase == .sending)
    try capture.apply(.sent(.ended(outcome(.declined))), now: now)
    #expect(capture.outcome?.kind == .declined)
  }

  @Test(
    "A call of an earlier capture may still be on its way, so a refusal of the next one must be confirmed")
  func repeated() throws {
    var capture = Capture(orderedAt: now, isRepeat: true)
    #expect(capture.phase == .sending)
    try capture.apply(.sent(.ended(outcome(.refused))), now: now)
    #expect(capture.phase == .confirming)
  }

  @Test func `A clock that ran ahead delays no call for longer than a pause`() {
    var capture = Capture(resuming: now + .days(365), failures: 1, retryAt: now + .days(365))
    capture.bringBack(to: now)
    #expect(capture.dueAt == now + .seconds(2), "the pause after the first failure")
    #expect(capture.retryAt == now + .seconds(2))
  }
}
