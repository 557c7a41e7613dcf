// Future events in the order of their times; a binary heap.

/// A priority queue by due time. Things with the same time keep their insertion order.
struct Agenda<Thing> {
  private var heap: [(at: Int64, order: Int, thing: Thing)] = []
  private var count = 0

  var nextAt: Int64? { heap.first?.at }

  mutating func add(_ thing: Thing, at moment: Int64) {
    count += 1
    heap.append((moment, count, thing))
    var child = heap.count - 1
    while child > 0, isBefore(child, (child - 1) / 2) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Removes and returns the first thing if it is due.
  mutating func next(until now: Int64) -> Thing? {
    guard let first = heap.first, first.at <= now, let last = heap.popLast() else { return nil }
    guard !heap.isEmpty else { return first.thing }
    heap[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isBefore(child, least) {
        least = child
      }
      if least == parent { return first.thing }
      heap.swapAt(parent, least)
      parent = least
    }
  }

  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    (heap[left].at, heap[left].order) < (heap[right].at, heap[right].order)
  }
}
