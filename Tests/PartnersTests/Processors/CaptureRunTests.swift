// Captures of a processor that names the call in the payment's state, accepts it, and shows its outcome
// later.

import Domain
import Partners
import Testing

private let now = Timestamp(unixMilliseconds: 1_800_000_000_000)
private let target = CapturablePayment(
  key: PurchaseKey(processor: "toy", type: "order", id: "o1"), facts: PaymentFacts(reference: "ref1"),
  startedAt: now, orderedAt: now)
private let captured = CaptureOutcome(kind: .captured, status: 200, body: Array("{}".utf8))
private let refused = CaptureOutcome(kind: .refused, status: 422, body: Array("{}".utf8))

/// Replies are words: `open HREF`, `open`, `captured`, `accepted`, `refused`.
private struct HrefCaptures: PaymentCaptures {
  let base = "https://toy.example"
  let headers: [(name: String, value: String)] = []
  let answersWithin: Duration = .seconds(30)

  func captureCall(_ payment: CapturablePayment) -> BackendCall? { nil }

  func lookupCall(_ payment: CapturablePayment) -> BackendCall {
    BackendCall("GET", "/orders/\(payment.key.id)", timeout: .seconds(20))
  }

  func readCapture(_ reply: BackendReply, of payment: CapturablePayment, now: Timestamp) -> CaptureReading {
    read(reply, now)
  }

  func readLookup(_ reply: BackendReply, of payment: CapturablePayment, now: Timestamp) -> CaptureReading {
    read(reply, now)
  }

  private func read(_ reply: BackendReply, _ now: Timestamp) -> CaptureReading {
    guard case .answer(200, _, let body) = reply else { return .unclear(.failed) }
    let words = String(decoding: body, as: UTF8.self).split(separator: " ").map(String.init)
    switch words.first {
    case "open" where words.count == 2:
      let call = BackendCall("POST", words[1], body: Array("ref1".utf8), timeout: .seconds(20))
      return .nothingCaptured(capturedBy: call)
    case "open": return .nothingCaptured(capturedBy: nil)
    case "captured": return .ended(captured, report(.paid, now))
    case "refused": return .ended(refused, report(.closed, now))
    case "accepted": return .accepted
    default: return .unclear(.unreadable)
    }
  }

  private func report(_ observations: Observations, _ now: Timestamp) -> PurchaseReport {
    PurchaseReport(key: target.key, observations: observations, happenedAt: now)
  }
}

/// Carries a capture out with these replies.
/// - Returns: the calls that were made, and what was stored at the end.
private func play(_ replies: String?...) throws -> (calls: [String], run: CaptureRun, report: PurchaseReport?)
{
  let captures = HrefCaptures()
  var run = CaptureRun(beginning: target, isRepeat: false, by: captures)
  var (calls, time): ([String], Timestamp) = ([], now)
  var report: PurchaseReport?
  for reply in replies {
    let step = try #require(run.nextStep(by: captures))
    time = max(time, try #require(run.dueAt))
    calls.append("\(step.call.method) \(step.call.target)")
    let answer = reply.map { BackendReply.answer(status: 200, contentType: nil, body: Array($0.utf8)) }
    report = run.finish(step, answer ?? .noAnswer(isTimeout: false), by: captures, now: time).report ?? report
  }
  return (calls, run, report)
}

@Suite("Captures whose call only the payment's state names")
struct CaptureRunTests {
  private let lookup = "GET /orders/o1"

  @Test func `The state names the call, the call is made once, and lookups show its outcome`() throws {
    let (calls, run, report) = try play("open /a", "accepted", "open /b", "open /c", "captured")
    #expect(calls == [lookup, "POST /a", lookup, lookup, lookup])
    #expect(run.capture.outcome == captured)
    #expect(run.nextStep(by: HrefCaptures()) == nil)
    #expect(report?.observations == .paid)
  }

  @Test func `A payment that is already captured is not captured again`() throws {
    let (calls, run, _) = try play("captured")
    #expect(calls == [lookup])
    #expect(run.capture.outcome == captured)
  }

  @Test func `After a lost answer, the newest state names the call that is made again`() throws {
    let (calls, _, _) = try play("open /a", nil, "open /b", "open /c", "accepted", "captured")
    #expect(calls == [lookup, "POST /a", lookup, lookup, "POST /c", lookup])
  }

  @Test func `A state that names no call proves nothing`() throws {
    let (calls, run, _) = try play("open", "open", "open /a", "accepted")
    #expect(calls == [lookup, lookup, lookup, "POST /a"])
    #expect(run.capture.failures == 2)
  }

  @Test func `The report of a refusal is stored when a lookup has confirmed the refusal`() throws {
    let unconfirmed = try play("open /a", nil, "open /b", "open /b", "refused")
    #expect(unconfirmed.report == nil)
    #expect(unconfirmed.run.capture.outcome == nil)
    let confirmed = try play("open /a", nil, "open /b", "open /b", "refused", nil, "open /b")
    #expect(confirmed.run.capture.outcome == refused)
    #expect(confirmed.report?.observations == .closed)
    let captured = try play("open /a", nil, "open /b", "open /b", "refused", "captured")
    #expect(captured.report?.observations == .paid)
  }

  @Test("Without room for a call, the same call is due a second later, and no failure is counted")
  func busy() throws {
    let captures = HrefCaptures()
    var run = CaptureRun(beginning: target, isRepeat: false, by: captures)
    let lookUp = try #require(run.nextStep(by: captures))
    let open = BackendReply.answer(status: 200, contentType: nil, body: Array("open /a".utf8))
    #expect(run.finish(lookUp, open, by: captures, now: now).trouble == nil)
    let send = try #require(run.nextStep(by: captures))
    #expect(send.call.target == "/a")
    #expect(run.finish(send, .busy, by: captures, now: now).trouble == nil)
    #expect(run.dueAt == now + .seconds(1))
    #expect(run.nextStep(by: captures) == send)
    #expect(run.capture.failures == 0)
  }

  @Test func `The reply to an older step changes nothing, and troubles are reported`() throws {
    let captures = HrefCaptures()
    var run = CaptureRun(beginning: target, isRepeat: false, by: captures)
    let before = run.capture
    let call = BackendCall("POST", "/a", timeout: .seconds(1))
    _ = run.finish(.send(call), .unreachable, by: captures, now: now)
    #expect(run.capture == before)
    let lookUp = try #require(run.nextStep(by: captures))
    #expect(run.finish(lookUp, .unreachable, by: captures, now: now).trouble == .unreachable)
    #expect(run.finish(lookUp, .noAnswer(isTimeout: true), by: captures, now: now).trouble == .failed)
    #expect(run.capture.failures == 1, "the second came before the end of the pause")
  }
}
