// Which idle connections are closed to make room. Pure.

internal import Platform

/// The rule by which idle connections make room for those who connect.
///
/// What all of it guarantees:
/// - **Idle connections make the server refuse nothing.** A request is refused as `Rejection.crowded` only
///   while more requests than `ServerConfiguration.unreservedConnections` are under way (`RequestCount`): a
///   connection without one does not count, whoever holds it, and however many of them there are.
/// - **Idle connections keep nobody out.** Above `kept` connections those are closed that have been idle for
///   the grace, the longest idle first; above `urgent`, the longest idle ones whatever their age, so that
///   some places are free when a client connects. That holds for the connections of one client, of many, and
///   of `ServerConfiguration.unlimitedPeers`.
/// - **Whoever connects has time to say what it wants**: the grace, or, in a flood, until as many others have
///   connected after it as connections are idle.
/// - **A request is never cut for others**, be it suspended, in its body or still unread in its socket; nor
///   is any connection while at most `kept` are open.
///
/// A connection is idle until the header fields of its (next) request are complete.
struct Eviction {
  /// Up to this number of connections, none is closed.
  let kept: Int
  /// Above this number, the grace does not count. Without a reserve it always does.
  let urgent: Int
  /// How long a connection has at least, unless the last places are taken.
  let graceMilliseconds: Int64

  /// - Parameters:
  ///   - idle: since when each has been idle.
  ///   - connections: how many there are, idle or not.
  /// - Returns: those to close, the longest idle first.
  func chosen<Element>(
    from idle: [(since: MonotonicInstant, element: Element)], connections: Int, at now: MonotonicInstant
  ) -> [Element] {
    let latest = now.advanced(byMilliseconds: -graceMilliseconds)
    return Self.oldest(idle, connections - kept).enumerated()
      .filter { $0.offset < connections - urgent || $0.element.since <= latest }
      .map(\.element.element)
  }

  /// The first in the order of their times. Few are wanted of many, and often: one pass finds them, without
  /// sorting all.
  private static func oldest<Element>(
    _ idle: [(since: MonotonicInstant, element: Element)], _ count: Int
  ) -> [(since: MonotonicInstant, element: Element)] {
    guard count > 0 else { return [] }
    var oldest: [(since: MonotonicInstant, element: Element)] = []
    oldest.reserveCapacity(min(count, idle.count) + 1)
    for entry in idle {
      if oldest.count == count {
        guard let last = oldest.last, entry.since < last.since else { continue }
        oldest.removeLast()
      }
      var (low, high) = (0, oldest.count)
      while low < high {
        let middle = (low + high) / 2
        if oldest[middle].since <= entry.since { low = middle + 1 } else { high = middle }
      }
      oldest.insert(entry, at: low)
    }
    return oldest
  }
}
