// The ledgers of both ends while the daemon is killed: what was acknowledged to the senders, and what the
// destination received and accepted. Thread-safe.

import Platform

/// The destination's ledger. By the receipts' names, it refuses some at first and fails some once, so that
/// operators have something to replay and retries are pending when the daemon dies.
final class DestinationLedger: Sendable {
  private struct Line {
    var asked = 0
    var taken = 0
  }

  private let lines = Monitor<[String: Line]>([:])

  func answer(_ entry: Destination.Entry) -> Destination.Answer {
    let object = entry.objectID ?? ""
    // A stable hash, unlike Swift's own.
    let mark = object.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF }
    return lines.withLock { lines in
      lines[object, default: Line()].asked += 1
      let asked = lines[object]?.asked ?? 0
      if asked == 1 && mark % 10 == 0 { return .status(422) }
      if asked == 1 && mark % 10 < 4 { return .status(503) }
      lines[object]?.taken += 1
      return .late(.milliseconds(10), .taken)
    }
  }

  func asked(_ object: String) -> Int { lines.withLock { $0[object]?.asked ?? 0 } }
  /// How often it was answered 2xx.
  func taken(_ object: String) -> Int { lines.withLock { $0[object]?.taken ?? 0 } }
}

/// Senders that complete checkouts until they are stopped. Owns their threads.
final class Senders {
  private struct State {
    var port: UInt16
    /// Events that were answered 200 after their context had been accepted.
    var taken: [Checkout] = []
    var isOver = false
  }

  private let state: Monitor<State>
  private var threads: [WorkerThread]

  init(_ count: Int, port: UInt16) throws {
    let state = Monitor(State(port: port))
    self.state = state
    threads = try (0..<count).map { sender in
      try WorkerThread(name: "sender-\(sender)") { Self.keepSending(state, sender: sender) }
    }
  }

  /// A context is posted until it is accepted. An event is sent once, so that a retry cannot hide the loss of
  /// an acknowledged one.
  private static func keepSending(_ state: Monitor<State>, sender: Int) {
    var number = 0
    while true {
      let (port, isOver) = state.withLock { ($0.port, $0.isOver) }
      if isOver { return }
      let outside = Outside(api: Endpoint(port: port))
      let checkout = Checkout("kill-\(sender)-\(number)")
      // A relay that is down refuses or breaks connections; the next request goes to its successor.
      guard let posted = try? outside.postContext(checkout.user, checkout.context), posted.status < 300 else {
        Waiting.pause()
        continue
      }
      number += 1
      guard let sent = try? outside.send(checkout.completed), sent.status == 200 else { continue }
      state.update { $0.taken.append(checkout) }
    }
  }

  var taken: Int { state.withLock { $0.taken.count } }

  /// Sets the relay's new port.
  func use(port: UInt16) { state.withLock { $0.port = port } }

  /// Ends the threads.
  /// - Returns: the acknowledged checkouts.
  @discardableResult func stop() -> [Checkout] {
    state.update { $0.isOver = true }
    for thread in threads { thread.join() }
    threads = []
    return state.withLock { $0.taken }
  }
}
