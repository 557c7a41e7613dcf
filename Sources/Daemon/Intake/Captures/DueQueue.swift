// Values in the order of their times: a binary heap, because many may wait, and each step needs few. A value;
// one thread at a time.

internal import Platform

/// A queue whose earliest value comes first.
struct DueQueue<Value> {
  private var heap: [(dueAt: MonotonicInstant, value: Value)] = []

  /// The earliest time; nil if the queue is empty.
  var nextDueAt: MonotonicInstant? { heap.first?.dueAt }

  /// In logarithmic time.
  mutating func add(_ value: Value, at dueAt: MonotonicInstant) {
    heap.append((dueAt, value))
    var child = heap.count - 1
    while child > 0, heap[child].dueAt < heap[(child - 1) / 2].dueAt {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Removes the earliest value, in logarithmic time.
  /// - Returns: nil if none is due.
  mutating func pop(now: MonotonicInstant) -> (dueAt: MonotonicInstant, value: Value)? {
    guard let first = heap.first, first.dueAt <= now else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while let child = earlierChild(of: parent), heap[child].dueAt < heap[parent].dueAt {
      heap.swapAt(parent, child)
      parent = child
    }
    return first
  }

  private func earlierChild(of parent: Int) -> Int? {
    let (left, right) = (2 * parent + 1, 2 * parent + 2)
    guard left < heap.count else { return nil }
    return right < heap.count && heap[right].dueAt < heap[left].dueAt ? right : left
  }
}
