// The commands of one step in a relay's life, for one batch. One thread.

import Domain
import Formats
import Platform
import Store
import TestSupport

struct Happening {
  private static let purchases = 60

  private let now: Timestamp
  private let step: Int
  private let ledger: Ledger
  private let isTerse: Bool
  private var random: SeededGenerator
  /// A retry gets another identifier, so identifiers do not depend on the step alone.
  private var identifiers: SeededGenerator
  private(set) var submissions: [Submission] = []

  init(seed: UInt64, step: Int, now: Timestamp, ledger: Ledger, isTerse: Bool) {
    self.isTerse = isTerse
    self.now = now
    self.step = step
    self.ledger = ledger
    random = SeededGenerator(seed: seed ^ (UInt64(step) &* 0x9E37_79B9))
    identifiers = SeededGenerator(seed: ~seed ^ UInt64(ledger.page.submitted))
  }

  private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

  private mutating func oneIn(_ count: Int) -> Bool { number(0..<count) == 0 }

  /// Extra length of a text, to make rows that fill a page or several.
  private mutating func padding(_ range: Range<Int>, _ bytes: Int) -> Int {
    number(range) * (isTerse ? 1 : bytes)
  }

  /// Contexts and events, including repeats, and events about old purchases.
  mutating func comeIn() {
    for _ in 0..<number(1..<4) { takeContext() }
    for position in 0..<number(2..<6) { takeEvent(position) }
  }

  private mutating func takeContext() {
    let n = number(0..<Self.purchases)
    let text = "blob \(n) " + String(repeating: "x", count: padding(0..<4, 700))
    let app: AppSlug = n % 3 == 0 ? "held" : "ios"
    let command = IngestContext(
      app: app, userID: "user \(n)", blob: ContextBlob(text: text, priceID: oneIn(2) ? "price_1" : nil),
      id: ContextID.make(now: now, random: &identifiers))
    let posted = now
    add(command) { ledger, outcome in
      guard let id = outcome.stored?.id else { return }
      ledger.contexts[id] = Ledger.Context(app: app, text: text, postedAt: posted)
    }
  }

  private mutating func takeEvent(_ position: Int) {
    let n = number(0..<Self.purchases)
    let app: AppSlug = n % 3 == 0 ? "held" : "ios"
    // One in six events is a repeat.
    let id: EventID = oneIn(6) && step > 0 ? "evt_\(number(0..<step))_\(position)" : "evt_\(step)_\(position)"
    let body = Array("\(id) ".utf8) + [UInt8](repeating: UInt8(n), count: padding(0..<5, 900))
    let command = IngestEvent(
      app: app, processor: "stripe", eventID: id, type: "test", body: body, content: content(n))
    let received = now
    add(command) { state, outcome in
      guard case .stored = outcome else { return }
      state.events["\(app) \(id)"] = Ledger.Event(app: app, id: id, body: body, receivedAt: received)
    }
  }

  private mutating func content(_ n: Int) -> IngestEvent.Content {
    let session: SessionID = "cs_\(n)"
    let subscription = PurchaseKey(type: .subscription, id: "sub_\(n)")
    let checkout = PurchaseKey(type: .checkoutSession, id: ObjectID(session))
    var said = PurchaseReport(key: subscription, customerID: "cus_\(n)", happenedAt: now)
    switch number(0..<8) {
    case 0:
      said.key = checkout
      said.sessionID = session
      said.observations = [.paid, .objectExpected]
      said.clientReference = "user \(n)"
    case 1, 2:
      said.sessionID = session
      said.observations = .paid
      said.clientReference = "user \(n)"
    case 3:
      said.sessionID = session
      said.observations = .promised
      said.metadataUser = "user \(n)"
    case 4:
      said.key = checkout
      said.sessionID = session
      said.observations = .failed
    case 5:
      said.observations = .began
      said.prices = ["price_1"]
    case 6:
      said.observations = .firstPaymentMade
      said.prices = ["price_\(n % 3)"]
    default: return .nothing(.ignored)
    }
    return .report(said, keep: !oneIn(5))
  }

  /// The dispatcher's results for the due receipts.
  mutating func deliver(_ due: [(app: AppSlug, receipt: StoreReader.DueReceipt)]) {
    for (app, receipt) in due {
      let decisions: [Delivery.Decision] = [
        .delivered(importID: "import \(step)"), .delivered(importID: nil), .failed(.status(422)),
        .retry(at: now.advanced(by: .seconds(60)), spent: true),
        .retry(at: now.advanced(by: .seconds(1)), spent: false),
      ]
      let decision = decisions[number(0..<decisions.count)]
      let report = AttemptReport(
        startedAt: now, duration: .milliseconds(5), status: 200, error: nil, isAmbiguous: false,
        response: [UInt8](repeating: 65, count: padding(0..<3, 1500)))
      let state = Breaker.State.allCases[number(0..<Breaker.State.allCases.count)]
      let breaker = Breaker(state: state, failures: number(0..<9), since: now)
      let entry = ledger.mayKeep(breaker, app: app)
      let at = now
      add(RecordAttempt(of: receipt.id, app: app, report: report, decision: decision, breaker: breaker)) {
        state, outcome in
        state.keep(entry, app: app)
        guard let outcome else { return }
        state.attempts["\(receipt.row) \(at.unixMilliseconds)"] = (receipt.row, at)
        if outcome.state == .delivered { state.delivered[receipt.id] = at }
      }
    }
  }

  /// An operator's actions with receiptctl.
  mutating func operate(_ receipts: [ReceiptID]) {
    guard !receipts.isEmpty else { return }
    let id = receipts[number(0..<receipts.count)]
    switch number(0..<6) {
    case 0: add(CancelReceipt(id: id, note: "step \(step)"))
    case 1:
      let force = oneIn(2)
      if force { ledger.mayReopen(id) }
      add(ReplayReceipt(id: id, force: force, dueAt: now))
    case 2: add(CompleteReceipt(id: id, userID: "operator's", priceID: "price_op", contextID: nil))
    case 3: startJob()
    default: break
    }
  }

  /// A bulk replay, fast or gentle, which may be stopped while it runs.
  private mutating func startJob() {
    var filter = ReceiptFilter()
    filter.state = .failed
    let request = JobRequest(
      source: .filter(filter, limit: oneIn(2) ? 5 : nil), ratePerSecond: oneIn(2) ? 0.001 : nil, actor: "op")
    add(
      Audited(StartJob(request)) { job in
        AuditEntry(at: job.createdAt, actor: "op", action: "receipts replay", subject: job.id.text)
      })
  }

  /// The job runner's next step for each job.
  mutating func work(on jobs: [(id: JobID, action: JobAction)]) {
    for (id, action) in jobs {
      if case .apply(let step) = action { add(step) }
      guard oneIn(8) else { continue }
      let changes: [ChangeJob.Change] = [.pause, .resume, .cancel]
      add(ChangeJob(id: id, changes[number(0..<changes.count)]))
    }
    if oneIn(6) { add(RetainJobs(cutoff: now - .hours(1))) }
  }

  /// Waits and retention.
  mutating func keepHouse() {
    add(EndWaits())
    if oneIn(3) {
      let breaker = Breaker(state: .closed, failures: number(0..<9))
      let entry = ledger.mayKeep(breaker, app: "ios")
      add(SaveBreaker(app: "ios", breaker: breaker)) { state, _ in state.keep(entry, app: "ios") }
    }
    guard oneIn(2) else { return }
    let table = RetentionTable.allCases[number(0..<RetentionTable.allCases.count)]
    let cutoff = now.advanced(by: .hours(-6))
    ledger.mayDelete(table, before: cutoff)
    add(Retain(table: table, cutoff: cutoff, afterRow: 0))
    add(RetainNoted(cutoff: cutoff))
    add(RetainPast())
  }

  private mutating func add<Command: StoreCommand>(
    _ command: Command,
    _ note: @escaping @Sendable (inout Ledger.State, Command.Outcome) -> Void = { _, _ in }
  ) {
    submissions.append(ledger.submission(command, note))
  }
}
