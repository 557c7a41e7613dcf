// The open captures in memory: which call is due, and which requests wait for the outcome. No step looks at
// all of them, because many may be open while a processor is down. A value; the capture worker's thread.

internal import Domain
internal import Partners
internal import Platform
internal import Store

/// A request that waits for the outcome of a capture.
struct AwaitedCapture {
  let client: BackendClient
  /// When the request is answered with an unknown outcome.
  let answerBy: MonotonicInstant
}

/// A capture that is being carried out.
struct CaptureEntry {
  /// What is being done for it. Only an idle capture is due.
  enum Activity {
    case idle, calling, storing
  }

  let capture: CaptureReference
  let place: AppProcessor
  var run: CaptureRun
  var waiting: [AwaitedCapture] = []
  var activity = Activity.idle
  /// When it is due. Queue elements with another time are stale.
  fileprivate(set) var dueAt: MonotonicInstant?
  /// What is to be stored; nil until the outcome is known.
  var ending: (outcome: CaptureOutcome, report: PurchaseReport?)?

  init(_ capture: CaptureReference, of place: AppProcessor, _ run: CaptureRun) {
    self.capture = capture
    self.place = place
    self.run = run
  }
}

/// All captures of the worker.
struct OpenCaptures {
  /// The captures of an app at a processor, by the time at which they are due. Those for which an app waits
  /// come first: after an outage, a customer who pays now must not wait for all that is repeated.
  private struct Queues {
    var awaited = DueQueue<CaptureReference>()
    var unattended = DueQueue<CaptureReference>()
  }

  private var entries: [CaptureReference: CaptureEntry] = [:]
  private var queues: [AppProcessor: Queues] = [:]
  private var deadlines = DueQueue<CaptureReference>()

  /// The apps and processors that have captures.
  var places: [AppProcessor] { Array(queues.keys) }

  subscript(capture: CaptureReference) -> CaptureEntry? {
    get { entries[capture] }
    set { entries[capture] = newValue }
  }

  /// Makes a capture idle until a time.
  mutating func schedule(_ capture: CaptureReference, at dueAt: MonotonicInstant) {
    guard var entry = entries[capture] else { return }
    (entry.activity, entry.dueAt) = (.idle, dueAt)
    entries[capture] = entry
    enqueue(entry, at: dueAt)
  }

  private mutating func enqueue(_ entry: CaptureEntry, at dueAt: MonotonicInstant) {
    if entry.waiting.isEmpty {
      queues[entry.place, default: Queues()].unattended.add(entry.capture, at: dueAt)
    } else {
      queues[entry.place, default: Queues()].awaited.add(entry.capture, at: dueAt)
    }
  }

  /// Adds a request to a capture, which moves to the queue of those for which an app waits.
  mutating func add(_ request: AwaitedCapture, to capture: CaptureReference) {
    guard var entry = entries[capture] else { return }
    let isFirst = entry.waiting.isEmpty
    entry.waiting.append(request)
    entries[capture] = entry
    deadlines.add(capture, at: request.answerBy)
    if isFirst, entry.activity == .idle, let dueAt = entry.dueAt { enqueue(entry, at: dueAt) }
  }

  /// Removes a capture that is due from its queue; nil if there is none.
  mutating func popDue(of place: AppProcessor, isAwaited: Bool, now: MonotonicInstant) -> CaptureReference? {
    while let (dueAt, capture) = isAwaited
      ? queues[place]?.awaited.pop(now: now) : queues[place]?.unattended.pop(now: now)
    {
      // A stale element: the capture has moved to the other queue, for instance.
      guard let entry = entries[capture], entry.activity == .idle, entry.dueAt == dueAt,
        entry.waiting.isEmpty != isAwaited
      else { continue }
      return capture
    }
    return nil
  }

  /// Removes the requests whose time is up. A capture that no app waits for any more yields to others.
  mutating func popOverdue(now: MonotonicInstant) -> [AwaitedCapture] {
    var overdue: [AwaitedCapture] = []
    while let (_, capture) = deadlines.pop(now: now) {
      guard var entry = entries[capture], !entry.waiting.isEmpty else { continue }
      overdue += entry.waiting.filter { $0.answerBy <= now }
      entry.waiting.removeAll { $0.answerBy <= now }
      entries[capture] = entry
      if entry.waiting.isEmpty, entry.activity == .idle, let dueAt = entry.dueAt { enqueue(entry, at: dueAt) }
    }
    return overdue
  }

  /// When the next of these captures is due; nil if there is none.
  func nextDueAt(of place: AppProcessor, isAwaited: Bool) -> MonotonicInstant? {
    isAwaited ? queues[place]?.awaited.nextDueAt : queues[place]?.unattended.nextDueAt
  }

  /// When the time of the next request is over; nil if none waits.
  var nextDeadline: MonotonicInstant? { deadlines.nextDueAt }

  /// Forgets the captures of an app at a processor, except those for which something is under way.
  /// - Returns: their requests.
  mutating func remove(_ place: AppProcessor) -> [AwaitedCapture] {
    queues[place] = nil
    return idle(of: place).flatMap { capture in entries.removeValue(forKey: capture)?.waiting ?? [] }
  }

  /// The captures of an app at a processor for which nothing is under way.
  func idle(of place: AppProcessor) -> [CaptureReference] {
    entries.values.filter { $0.place == place && $0.activity == .idle }.map(\.capture)
  }

  /// Removes all requests.
  mutating func removeWaiting() -> [AwaitedCapture] {
    let waiting = entries.values.flatMap(\.waiting)
    for capture in entries.keys { entries[capture]?.waiting = [] }
    return waiting
  }
}
