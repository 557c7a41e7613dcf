// Decides which connections are closed to make room. Pure.

internal import Platform

/// The rule by which idle connections make room for new ones.
///
/// It guarantees:
/// - **Idle connections cause no refusal.** A request is refused as `Rejection.crowded` only while more
///   requests than `ServerConfiguration.unreservedConnections` are in progress (`RequestCount`). A connection
///   without a request does not count.
/// - **Idle connections block no client.** Above `kept` connections, those that have been idle for the grace
///   are closed, the longest idle first. Above `urgent`, the longest idle ones are closed at any age, so that
///   some places are free when a client connects. This holds for the connections of one client, of many, and
///   of `ServerConfiguration.unlimitedPeers`.
/// - **A new client has time to send its request**: the grace, or, in a flood, until as many others have
///   connected after it as connections are idle.
/// - **Slow bodies block no client.** Above `urgent`, the requests whose bodies are incomplete are cut like
///   connections that were idle for less than the grace, the oldest first: anybody may begin a request that
///   may use the reserve.
/// - **A complete request is never cut for others**, whether it is suspended or still unread in its socket.
///   No connection is cut while at most `kept` are open.
///
/// A connection is idle until the header fields of its (next) request are complete.
struct Eviction {
  /// Up to this number of connections, none is closed.
  let kept: Int
  /// Above this number, the grace does not apply. Without a reserve it always applies.
  let urgent: Int
  /// How long a connection stays open at least, unless the last places are taken.
  let grace: Duration

  /// - Parameters:
  ///   - idle: when each became idle.
  ///   - bodies: since when each incomplete request has been read.
  ///   - connections: the number of connections, idle or not.
  /// - Returns: those to close: first those that have been idle for the grace, then of all others, for the
  ///   last places, the oldest first.
  func chosen<Element>(
    from idle: [(since: MonotonicInstant, element: Element)],
    bodies: [(since: MonotonicInstant, element: Element)] = [], connections: Int, at now: MonotonicInstant
  ) -> [Element] {
    let latest = now - grace
    let settled = Self.oldest(idle.filter { $0.since <= latest }, connections - kept)
    // If more must be closed, all that were idle for the grace are chosen already.
    let more = connections - settled.count - urgent
    let others = more > 0 ? Self.oldest(idle.filter { $0.since > latest } + bodies, more) : []
    return (settled + others).map(\.element)
  }

  /// The `count` oldest entries, in order. The caller needs few of many, and often: one pass is cheaper than
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
