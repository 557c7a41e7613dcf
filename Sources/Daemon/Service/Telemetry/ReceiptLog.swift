// Logs receipts: one line for each state change, after it is on disk. The committer only passes values; a
// separate thread formats and writes them at a limited rate. Lines beyond the limit are dropped and counted;
// the database has all changes.

internal import Domain
public import Platform
public import Store

/// Logs the state changes of receipts. Thread-safe.
public final class ReceiptLog: Sendable {
  /// The most changes that wait to be written.
  public static let waitingMax = 1000
  /// journald drops lines that arrive much faster (RateLimitBurst=, journald.conf(5)).
  public static let linesPerSecondMax = 1000

  private struct Inbox: WorkerInbox {
    var waiting: [ReceiptTransition] = []
    var leftOut = 0
    var isStopping = false
  }

  private let worker = Worker("receipt-log", inbox: Inbox())
  private let log: Log
  private let metrics: Metrics

  public init(_ log: Log, metrics: Metrics) {
    self.log = log
    self.metrics = metrics
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in run() }
  }

  /// Queues changes for the log. The cost does not depend on the log's reader.
  public func note(_ transitions: [ReceiptTransition]) {
    guard !transitions.isEmpty, log.level >= .warning else { return }
    let wanted =
      log.level >= .info ? transitions : transitions.filter { $0.to == .failed || $0.lacksImportID }
    guard !wanted.isEmpty else { return }
    // While changes wait, the thread is awake or has a due time, so it needs no wake-up.
    worker.offer { inbox in
      let room = max(0, Self.waitingMax - inbox.waiting.count)
      defer {
        inbox.waiting += wanted.prefix(room)
        inbox.leftOut += max(0, wanted.count - room)
      }
      return inbox.waiting.isEmpty
    }
  }

  /// Writes the waiting changes, and ends the thread.
  public func stop() {
    worker.stop()
    while write(atMost: Self.linesPerSecondMax) > 0 {}
  }

  private func run() {
    var budget = LineBudget(now: .now())
    while !worker.read({ $0.isStopping }) {
      budget.spend(write(atMost: budget.left(now: .now())))
      worker.wait(until: budget.left(now: .now()) == 0 ? budget.renewal : nil)
    }
  }

  /// Writes waiting changes.
  /// - Returns: how many lines were written.
  public func write(atMost limit: Int) -> Int {
    guard limit > 0 else { return 0 }
    let (some, leftOut) = worker.withInbox { inbox in
      let some = Array(inbox.waiting.prefix(limit))
      inbox.waiting.removeFirst(some.count)
      defer { inbox.leftOut = 0 }
      return (some, inbox.leftOut)
    }
    for transition in some { write(transition) }
    if leftOut > 0 {
      metrics.logLinesLeftOut.add(UInt64(leftOut))
      log.warning(
        "too many lines about receipts, some were left out; receiptctl receipts list has all changes",
        ["count": String(leftOut)])
    }
    return some.count
  }

  private func write(_ transition: ReceiptTransition) {
    let fields: LogFields = [
      "app": transition.app.text, "receipt": transition.receiptID.text, "from": transition.from?.rawValue,
      "reason": transition.reason?.text, "import_id": transition.to == .delivered ? transition.importID : nil,
      "attempts": transition.attempts > 0 ? String(transition.attempts) : nil,
      "status": transition.attempts > 0 ? transition.lastStatus.map { String($0) } : nil,
      "cause": transition.lastCause.flatMap { $0 == transition.reason ? nil : $0.text },
      "until": transition.waitUntil.map { RFC3339.string(unixMilliseconds: $0.unixMilliseconds) },
      "user": (transition.userID?.text).map(log.personal), "event": transition.cause.eventID?.text,
      "request_id": transition.cause.requestID,
    ]
    switch transition.to {
    case .waiting: log.info("a receipt waits", fields)
    case .pending:
      let isReplay = transition.from != nil && transition.from != .waiting
      log.info(isReplay ? "a receipt is pending again" : "a receipt is ready", fields)
    case .delivered where transition.lacksImportID:
      log.warning(
        "delivered, but the answer names no import id, which the destination's support asks for; check that "
          + "the destination's url is its receipt endpoint. All of them: receiptctl receipts list "
          + "--no-import-id",
        fields)
    case .delivered: log.info("delivered", fields)
    case .cancelled: log.info("a receipt was cancelled", fields)
    case .failed:
      log.warning(Self.failure(transition.reason), fields)
    }
  }

  private static func failure(_ reason: Reason?) -> String {
    switch reason {
    case .payment?:
      "a receipt failed: its payment never came; if it comes, the receipt continues automatically"
    case .subscription?:
      "a receipt failed: its subscription has no id yet, which comes with the payment; the receipt then "
        + "continues automatically"
    case let reason? where Reason.ofJoin.contains(reason):
      "a receipt failed: its missing data never arrived; supply it with receiptctl receipts complete"
    default: "a receipt failed; look at it with receiptctl receipts show, fix the cause, then replay it"
    }
  }
}

extension ReceiptTransition {
  /// Whether the destination accepted it without an import id. The import id of an erased user is not kept,
  /// so it does not count.
  fileprivate var lacksImportID: Bool { to == .delivered && importID == nil && userID != nil }
}

/// The lines that may still be written in the current second. A value; one thread.
public struct LineBudget {
  private var began: MonotonicInstant
  private var spent = 0

  public init(now: MonotonicInstant) { began = now }

  /// When the next second begins.
  public var renewal: MonotonicInstant { began.advanced(by: .seconds(1)) }

  public mutating func left(now: MonotonicInstant) -> Int {
    if now >= renewal { self = LineBudget(now: now) }
    return max(0, ReceiptLog.linesPerSecondMax - spent)
  }

  public mutating func spend(_ lines: Int) { spent += lines }
}
