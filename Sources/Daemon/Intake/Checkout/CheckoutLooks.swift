// The times of the checks of long polls. A value, guarded by the lock of CheckoutPolls.

internal import Domain
internal import Platform

/// When to check which checkouts. Times are rounded up to steps, so that one check serves many requests.
struct CheckoutLooks {
  /// How much later than its due time a request may be answered.
  static let stepNanoseconds: Int64 = 10_000_000

  private var contexts: [MonotonicInstant: Set<ContextID>] = [:]
  /// The keys of `contexts` in ascending order. Most requests wait equally long, so most steps are appended.
  private var steps: [MonotonicInstant] = []

  /// The earliest time.
  var next: MonotonicInstant? { steps.first }

  /// - Returns: whether this time is earlier than all others.
  @discardableResult
  mutating func add(_ contextID: ContextID, at moment: MonotonicInstant) -> Bool {
    let size = Self.stepNanoseconds
    let step = MonotonicInstant(nanoseconds: (moment.nanoseconds / size + 1) * size)
    if contexts[step]?.insert(contextID) != nil { return false }
    contexts[step] = [contextID]
    let position = (steps.lastIndex { $0 < step } ?? -1) + 1
    steps.insert(step, at: position)
    return position == 0
  }

  /// Removes the times until `now`.
  /// - Returns: the checkouts to check.
  mutating func removeDue(_ now: MonotonicInstant) -> Set<ContextID> {
    let due = steps.prefix { $0 <= now }
    var found: Set<ContextID> = []
    for step in due { found.formUnion(contexts.removeValue(forKey: step) ?? []) }
    steps.removeFirst(due.count)
    return found
  }
}
