// A model of one payment: an Afterpay that loses, delays and garbles answers and lies, an app that orders
// captures, and a relay that crashes at any point. A seed determines everything. One thread.

import Domain
import Formats
import Partners
import Platform

/// What this Afterpay does beside losing and garbling answers. The relay cannot distinguish any of these from
/// the truth by one reply.
struct CaptureModelTraits: CustomStringConvertible {
  /// A call that captures may arrive minutes after the relay gave up waiting for its answer.
  var delaysCalls: Bool
  /// A lookup may not see a capture of the last minute.
  var hasStaleLookups: Bool
  /// A repeated call for a captured payment may be refused.
  var refusesRepeats: Bool
  /// A repeated call charges again. Then the other traits are off: no protocol could prevent a second charge.
  var chargesRepeats: Bool
  /// A lookup does not find a declined payment.
  var hidesDeclined: Bool

  init(_ random: inout SeededGenerator) {
    chargesRepeats = Int.random(in: 0..<4, using: &random) == 0
    let liar = chargesRepeats ? -1 : Int.random(in: 0..<3, using: &random)
    delaysCalls = liar >= 0 && Bool.random(using: &random)
    hasStaleLookups = liar == 0
    refusesRepeats = liar == 1
    hidesDeclined = Bool.random(using: &random)
  }

  var description: String {
    "delays \(delaysCalls), stale \(hasStaleLookups), refuses \(refusesRepeats), charges \(chargesRepeats)"
  }
}

/// Afterpay, as the payment's truth.
struct ModelAfterpay {
  enum Result { case captured, declined }

  let traits: CaptureModelTraits
  let startedAt: Timestamp
  /// When the customer confirms the payment; nil for never.
  let confirmedAt: Timestamp?
  let declines: Bool
  private(set) var result: Result?
  private(set) var charges = 0
  private var processedAt: Timestamp?
  /// When delayed calls arrive.
  var delayed: [Timestamp] = []

  init(_ traits: CaptureModelTraits, startedAt: Timestamp, _ random: inout SeededGenerator) {
    self.traits = traits
    self.startedAt = startedAt
    declines = Int.random(in: 0..<5, using: &random) == 0
    let minutes = Int64.random(in: -5..<30, using: &random)
    confirmedAt = Int.random(in: 0..<10, using: &random) == 0 ? nil : startedAt + .minutes(max(0, minutes))
  }

  /// Processes a call that captures.
  mutating func process(at now: Timestamp) -> BackendReply {
    if result != nil, !traits.chargesRepeats, let first = processedAt {
      // A repeat is recognised for 24 hours.
      if now.duration(since: first) > .hours(24), result == .captured { charges += 1 }
      return truth
    }
    guard let confirmedAt, confirmedAt <= now else {
      return .afterpayError(412, "invalid_order_transaction_status")
    }
    guard now.duration(since: startedAt) <= .minutes(190) || result != nil else {
      return .afterpayError(402, "invalid_token")
    }
    processedAt = processedAt ?? now
    result = declines ? .declined : .captured
    if !declines { charges += 1 }
    return truth
  }

  private var truth: BackendReply {
    result == .captured ? afterpayApproved : .afterpay(402, afterpayPayment("DECLINED", "CAPTURE_DECLINED"))
  }

  /// Answers a lookup.
  func lookUp(at now: Timestamp, _ random: inout SeededGenerator) -> BackendReply {
    switch result {
    case .captured:
      let isNew = processedAt.map { now.duration(since: $0) < .minutes(1) } ?? false
      if traits.hasStaleLookups, isNew, Bool.random(using: &random) { return afterpayNotFound }
      return .afterpay(200, afterpayPayment("APPROVED", "CAPTURED"))
    case .declined:
      return traits.hidesDeclined
        ? afterpayNotFound : .afterpay(200, afterpayPayment("DECLINED", "CAPTURE_DECLINED"))
    case nil: return afterpayNotFound
    }
  }

  mutating func processDelayed(until now: Timestamp) {
    for arrival in delayed.filter({ $0 <= now }).sorted() { _ = process(at: arrival) }
    delayed.removeAll { $0 <= now }
  }

  /// Replies that prove nothing, and come instead of a true one.
  static let rubbish: [BackendReply] = [
    .page(500, ""), .page(503, "<html>"), .page(402, "<html>"), .page(200, ""),
    .afterpayError(401, "unauthorized"),
    .page(404, "<html>"), .afterpayError(404, "error"), .afterpayError(429, "slow_down"), .afterpay(201, [:]),
    .afterpay(200, afterpayPayment("APPROVED", "CAPTURED", token: "another")), .noAnswer(isTimeout: false),
    .afterpay(200, afterpayPayment("DECLINED", "CAPTURE_DECLINED", token: "another")), .page(302, ""),
    .afterpayError(409, "busy"),
    .afterpay(200, afterpayPayment("APPROVED", "AUTH_APPROVED")), .page(201, #"{"status":"APPROVED","#),
  ]
}

/// The relay and the app around it.
struct CaptureModel {
  /// What is on disk.
  private struct Row {
    var orderedAt: Timestamp
    var failures: Int64 = 0
    var retryAt: Timestamp
    var outcome: CaptureOutcome?
  }

  let processor: AfterpayProcessor
  let captures: any PaymentCaptures
  let traits: CaptureModelTraits
  private(set) var afterpay: ModelAfterpay
  private(set) var isPaid = false
  private(set) var outcomes: [CaptureOutcome.Kind] = []
  private(set) var fault: String?
  private(set) var crashes = 0
  private(set) var calls = 0

  private var random: SeededGenerator
  private var now: Timestamp
  private let startedAt: Timestamp
  /// Until then, Afterpay and the relay fail.
  private let troubleEnds: Timestamp
  private var row: Row?
  private var run: CaptureRun?
  private var ordersAt: Timestamp?
  private let key: PurchaseKey

  init(seed: UInt64, _ processor: AfterpayProcessor, _ captures: any PaymentCaptures) {
    var random = SeededGenerator(seed: seed)
    startedAt = Timestamp(unixMilliseconds: 1_800_000_000_000)
    now = startedAt
    traits = CaptureModelTraits(&random)
    afterpay = ModelAfterpay(traits, startedAt: startedAt, &random)
    let troubles: [Duration] = [.zero, .minutes(10), .hours(5), .days(2), .days(5)]
    troubleEnds = startedAt + (troubles.randomElement(using: &random) ?? .zero)
    ordersAt = startedAt + .minutes(Int64.random(in: 0..<20, using: &random))
    key = PurchaseKey(processor: AfterpayProcessor.name, type: "payment", id: ObjectID(afterpayToken))
    self.processor = processor
    self.captures = captures
    self.random = random
  }

  /// The outcome that is on disk.
  var outcome: CaptureOutcome? { row?.outcome }

  private mutating func happens(_ percent: Int) -> Bool {
    now < troubleEnds && Int.random(in: 0..<100, using: &random) < percent
  }

  /// Runs until nothing is left to do, or for a week after the troubles.
  mutating func play() {
    while let next = [run?.dueAt, ordersAt, afterpay.delayed.min()].compactMap(\.self).min(),
      next < max(troubleEnds, startedAt) + .days(7), fault == nil
    {
      now = max(now, next)
      afterpay.processDelayed(until: now)
      if let time = ordersAt, time <= now { order() }
      if let dueAt = run?.dueAt, dueAt <= now { work() }
    }
    guard outcome?.kind != .captured, let queries = processor.queries else { return }
    // The follow-up of a payment whose end is unknown.
    let reply = afterpay.lookUp(at: now + .hours(4), &random)
    guard case .answer(200, _, let body) = reply else { return }
    let report = queries.report(from: body, about: key, now: now)
    if report?.observations.contains(.paid) == true { isPaid = true }
  }

  /// The app orders a capture, as long as that may help.
  private mutating func order() {
    ordersAt = nil
    guard now.duration(since: startedAt) <= .minutes(180) else { return }
    switch StoredCapture.admit(row.map { StoredCapture(orderedAt: $0.orderedAt, outcome: $0.outcome) }) {
    case .ended: return
    case .join:
      run?.hasten(now: now)
      ordersAt = now + .seconds(Int64.random(in: 5..<300, using: &random))
    case .begin(let isRepeat):
      row = Row(orderedAt: now, retryAt: now)
      ordersAt = now + .minutes(1)
      if happens(20) { return crash() }
      run = CaptureRun(beginning: capturable(now), isRepeat: isRepeat, by: captures)
    }
  }

  private func capturable(_ orderedAt: Timestamp) -> CapturablePayment {
    let facts = PaymentFacts(amount: "59.99", currency: "USD", reference: "ref1")
    return CapturablePayment(key: key, facts: facts, startedAt: startedAt, orderedAt: orderedAt)
  }

  /// What is only in memory is lost.
  private mutating func crash() {
    crashes += 1
    run = nil
    now = now + .seconds(Int64.random(in: 1..<300, using: &random))
    guard let row, row.outcome == nil else { return }
    run = CaptureRun(
      capturable(row.orderedAt),
      Capture(resuming: row.orderedAt, failures: row.failures, retryAt: row.retryAt))
  }

  private mutating func work() {
    guard var run, let step = run.nextStep(by: captures) else {
      return fault = "nothing to do, and no outcome"
    }
    if happens(5) { return crash() }
    calls += 1
    let reply = reply(to: step)
    if happens(10) { return crash() }
    let progress = run.finish(step, reply, by: captures, now: now)
    if let contradiction = run.capture.contradiction { return fault = contradiction }
    if let outcome = run.capture.outcome {
      // Outcome and report are one transaction.
      if happens(10) { return crash() }
      row?.outcome = outcome
      outcomes.append(outcome.kind)
      if progress.report?.observations.contains(.paid) == true { isPaid = true }
      self.run = nil
      return
    }
    self.run = run
    if happens(10) { return }
    row?.failures = run.capture.failures
    row?.retryAt = run.capture.retryAt
  }

  private mutating func reply(to step: CaptureRun.Step) -> BackendReply {
    switch step {
    case .send(let call):
      if happens(10) { return .unreachable }
      if happens(10) { return lost(call) }
      if traits.delaysCalls, happens(15) {
        let reply = lost(call)
        afterpay.delayed.append(now + .seconds(Int64.random(in: 0..<300, using: &random)))
        return reply
      }
      if happens(15) { return rubbish() }
      if traits.refusesRepeats, afterpay.result == .captured, happens(50) {
        return Bool.random(using: &random)
          ? .afterpayError(412, "invalid_order_transaction_status") : .afterpayError(402, "invalid_token")
      }
      let reply = afterpay.process(at: now)
      if happens(20) { return lost(call) }
      return happens(15) ? rubbish() : reply
    case .lookUp(let call):
      if happens(10) { return .unreachable }
      if happens(15) { return lost(call) }
      return happens(20) ? rubbish() : afterpay.lookUp(at: now, &random)
    }
  }

  private mutating func rubbish() -> BackendReply {
    ModelAfterpay.rubbish.randomElement(using: &random) ?? .page(500, "")
  }

  private mutating func lost(_ call: BackendCall) -> BackendReply {
    let isTimeout = Bool.random(using: &random)
    if isTimeout { now = now + call.timeout }
    return .noAnswer(isTimeout: isTimeout)
  }
}
