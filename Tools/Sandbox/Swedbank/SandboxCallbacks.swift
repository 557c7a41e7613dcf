// Sends callbacks as Swedbank Pay does: again and again until a 2xx, at fixed times after the event. One
// thread owns the schedule and the connections.

public import HTTPClient
internal import Platform

/// An attempt to send a callback, and its outcome.
public struct SandboxCallbackAttempt: Sendable, Equatable {
  public var orderID: String
  public var url: String
  /// Counted from 1.
  public var number: Int
  /// The status of the answer; nil without one.
  public var status: Int?
  /// Why there was no answer; nil with one.
  public var failure: TransferFailure?
  /// Whether another attempt follows.
  public var isRetried: Bool

  /// Whether the receiver has accepted the callback.
  public var isAccepted: Bool { status.map { (200...299).contains($0) } ?? false }
}

/// Owns a thread, which `stop` ends. Thread-safe.
final class SandboxCallbacks: Sendable {
  private let worker: Worker<CallbackInbox>

  /// - Parameter scale: multiplies the times between attempts, 0…1000.
  init(scale: Double, onAttempt: @escaping @Sendable (SandboxCallbackAttempt) -> Void) throws(SystemError) {
    let pool: TransferPool
    do throws(TransferFailure) {
      pool = try TransferPool(connectionsMax: CallbackRun.connectionsMax)
    } catch {
      throw SystemError(code: 0, operation: "callbacks: \(error.rawValue)")
    }
    worker = Worker("sandbox-calls", inbox: CallbackInbox(), interrupt: { pool.wake() })
    try worker.start { [worker] in
      var run = CallbackRun(worker: worker, pool: pool, scale: scale, onAttempt: onAttempt)
      while !worker.isStopping { run.step() }
      pool.cancelAll()
    }
  }

  func send(_ callbacks: [SandboxSwedbankCallback]) {
    let now = MonotonicInstant.now()
    worker.post { inbox in
      let room = max(CallbackRun.waitingMax - inbox.new.count, 0)
      inbox.new += callbacks.prefix(room).map { ScheduledCallback(callback: $0, began: now, due: now) }
    }
  }

  func stop() { worker.stop() }
}

private struct CallbackInbox: WorkerInbox {
  var isStopping = false
  var new: [ScheduledCallback] = []
}

private struct ScheduledCallback {
  /// When a callback is sent again, from the event
  /// (https://developer.swedbankpay.com/checkout-v3/features/core/callback).
  private static let times: [Double] = [30, 60, 360, 432, 864, 1265]

  var callback: SandboxSwedbankCallback
  var began: MonotonicInstant
  var due: MonotonicInstant
  var attempt = 1

  /// The next attempt; nil if this was the last one.
  func next(scale: Double) -> ScheduledCallback? {
    guard Self.times.indices.contains(attempt - 1) else { return nil }
    let time = Duration.seconds(Self.times[attempt - 1] * min(max(scale, 0), 1000))
    return ScheduledCallback(
      callback: callback, began: began, due: began.advanced(by: time), attempt: attempt + 1)
  }
}

/// The thread's data.
private struct CallbackRun {
  static let connectionsMax = 8
  /// Callbacks beyond this number are dropped.
  static let waitingMax = 100_000
  private static let patience: Duration = .seconds(20)

  let worker: Worker<CallbackInbox>
  let pool: TransferPool
  let scale: Double
  let onAttempt: @Sendable (SandboxCallbackAttempt) -> Void
  private var waiting: [ScheduledCallback] = []
  private var running: [UInt64: ScheduledCallback] = [:]
  private var count: UInt64 = 0

  init(
    worker: Worker<CallbackInbox>, pool: TransferPool, scale: Double,
    onAttempt: @escaping @Sendable (SandboxCallbackAttempt) -> Void
  ) {
    self.worker = worker
    self.pool = pool
    self.scale = scale
    self.onAttempt = onAttempt
  }

  /// Starts what is due, and waits until something ends or becomes due.
  mutating func step() {
    let new = worker.read { inbox in
      defer { inbox.new = [] }
      return inbox.new
    }
    waiting += new.prefix(max(Self.waitingMax - waiting.count, 0))
    startDue()
    let next = waiting.map(\.due).min()
    guard !running.isEmpty else { return worker.wait(until: next) }
    let pause = next.map { $0.duration(since: .now()) } ?? Self.patience
    // While all connections are in use, what is due waits for the end of one.
    let isFull = running.count >= Self.connectionsMax
    for completion in pool.run(timeout: isFull ? Self.patience : max(pause, .zero)) {
      guard let ended = running.removeValue(forKey: completion.tag) else { continue }
      finish(ended, completion.result.status, completion.result.failure)
    }
  }

  private mutating func startDue() {
    let now = MonotonicInstant.now()
    let due = waiting.filter { $0.due <= now }.prefix(Self.connectionsMax - running.count)
    var left = due.count
    waiting.removeAll { entry in
      guard left > 0, entry.due <= now else { return false }
      left -= 1
      return true
    }
    for entry in due {
      count += 1
      let request = TransferRequest(
        method: .post, url: entry.callback.url,
        headers: [TransferHeader("Content-Type", "application/json; charset=utf-8")],
        body: entry.callback.body, timeout: Self.patience)
      do throws(TransferFailure) {
        try pool.start(request, tag: count)
        running[count] = entry
      } catch {
        finish(entry, nil, error)
      }
    }
  }

  private mutating func finish(_ entry: ScheduledCallback, _ status: Int?, _ failure: TransferFailure?) {
    var attempt = SandboxCallbackAttempt(
      orderID: entry.callback.orderID, url: entry.callback.url, number: entry.attempt, status: status,
      failure: status == nil ? failure : nil, isRetried: false)
    if !attempt.isAccepted, let next = entry.next(scale: scale) {
      attempt.isRetried = true
      waiting.append(next)
    }
    onAttempt(attempt)
  }
}
