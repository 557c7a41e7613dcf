// Several relays on one PostgreSQL database, and what both ends know of them.

import Formats
import Glibc
import HTTPServer
import Platform
import TestSupport
import Testing

/// Relays with the same apps. One thread; their outside is for others.
final class Cluster {
  let destination: Destination
  let ledger: ClusterLedger
  let apps: [String]
  let relays: [Relay]
  static let concurrency = 8

  /// - Parameter url: of the database, for each relay.
  init(_ count: Int, apps appCount: Int, url: (Int) -> String) throws {
    let destination = try Destination()
    let apps = (0..<appCount).map { "shop-\($0)" }
    let ledger = ClusterLedger()
    destination.answerAll { ledger.answer($0) }
    (self.destination, self.ledger, self.apps) = (destination, ledger, apps)
    relays = try (0..<count).map { number in
      let sections = apps.map { app -> JSONValue.Member in
        let section = Relay.app(
          destination,
          [
            // The destination learns who delivers.
            "purchasely": ["url": .string("\(destination.url)/\(app)/relay-\(number)")],
            "delivery": ["rate": 10_000, "concurrency": .integer(Int64(Self.concurrency))],
            "join": ["wait_for_context": "1h"],
          ])
        return JSONValue.Member(name: app, value: section)
      }
      let relay = try Relay(destination, top: ["database": .string(url(number))])
      relay.configuration = relay.configuration.replacing("apps", with: .object(sections))
      return relay
    }
  }

  /// How many deliveries can be in flight.
  var inFlightMax: Int { Self.concurrency * apps.count }

  func start() throws { for relay in relays { try relay.start() } }

  var ports: [UInt16] { relays.map(\.outside.api.port) }

  /// Ends what is left of the relays and the destination.
  func end() {
    for relay in relays where relay.process?.exitCode == nil { _ = try? relay.stop(SIGKILL) }
    destination.stop()
  }
}

extension JSONValue {
  /// An object whose member of a name has another value.
  func replacing(_ name: String, with value: JSONValue) -> JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { $0.name != name } + [Member(name: name, value: value)])
  }
}

/// The destination's ledger: what it accepted, and whether two relays delivered one app at the same time.
/// Thread-safe.
final class ClusterLedger: Sendable {
  private struct State {
    var taken: [String: Int] = [:]
    /// Who delivered each app last, and until when its requests were being answered.
    var deliverers: [String: (relay: String, until: MonotonicInstant)] = [:]
    var overlaps: [String] = []
    var changes = 0
  }

  /// Long enough that two deliverers would meet.
  private static let answerTime: Duration = .milliseconds(20)

  private let state = Monitor(State())

  func answer(_ entry: Destination.Entry) -> Destination.Answer {
    let words = entry.head.target.split(separator: "/").map(String.init)
    let (app, relay) = words.count == 3 ? (words[1], words[2]) : ("?", "?")
    let object = entry.objectID ?? ""
    return state.withLock { state in
      if let last = state.deliverers[app], last.relay != relay {
        state.changes += 1
        if entry.at < last.until { state.overlaps.append("\(app): \(last.relay) and \(relay)") }
      }
      state.deliverers[app] = (relay, entry.at + Self.answerTime)
      state.taken[object, default: 0] += 1
      return .late(Self.answerTime, .taken)
    }
  }

  func taken(_ object: String) -> Int { state.withLock { $0.taken[object] ?? 0 } }
  var overlaps: [String] { state.withLock { $0.overlaps } }
  /// How often an app got another deliverer.
  var changes: Int { state.withLock { $0.changes } }
  /// How many requests repeated one that was answered 2xx.
  var doubles: Int { state.withLock { $0.taken.values.reduce(0) { $0 + $1 - 1 } } }
}

extension Cluster {
  /// Starts the relays, and senders for all of them.
  func startUnderLoad(senders count: Int = 4, seed: UInt64 = 0) throws -> ClusterSenders {
    try start()
    return try ClusterSenders(count, ports: ports, apps: apps, seed: seed)
  }
}

/// Senders that complete checkouts at any relay until they are stopped. Owns their threads.
final class ClusterSenders {
  private struct State {
    var ports: [UInt16]
    /// Events that were answered 200 after their context had been accepted.
    var taken: [Checkout] = []
    /// How long each of their answers took.
    var answerTimes: [Duration] = []
    /// The times between two of these.
    var gaps: [Duration] = []
    var lastAt = MonotonicInstant.now()
    var isOver = false
  }

  private let state: Monitor<State>
  private let seed: UInt64
  private var threads: [WorkerThread] = []

  init(_ count: Int, ports: [UInt16], apps: [String], seed: UInt64) throws {
    let state = Monitor(State(ports: ports))
    (self.state, self.seed) = (state, seed)
    threads = try (0..<count).map { sender in
      try WorkerThread(name: "sender-\(sender)") { Self.keepSending(state, apps, sender: sender) }
    }
  }

  /// A context is posted until it is accepted, also at another relay. An event is sent once, so that a retry
  /// cannot hide the loss of an acknowledged one.
  private static func keepSending(_ state: Monitor<State>, _ apps: [String], sender: Int) {
    var (number, relay) = (0, sender)
    while true {
      let (ports, isOver) = state.withLock { ($0.ports, $0.isOver) }
      if isOver { return }
      relay += 1
      let outside = Outside(api: Endpoint(port: ports[relay % ports.count]))
      let checkout = Checkout("cluster-\(sender)-\(number)")
      let app = apps[number % apps.count]
      guard let posted = try? outside.postContext(checkout.user, checkout.context, app: app),
        posted.status < 300
      else {
        Waiting.pause()
        continue
      }
      number += 1
      // The event comes at another relay than the context.
      let other = Outside(api: Endpoint(port: ports[(relay + 1) % ports.count]))
      let start = MonotonicInstant.now()
      guard let sent = try? other.send(checkout.completed, app: app), sent.status == 200 else { continue }
      state.update { state in
        let now = MonotonicInstant.now()
        state.answerTimes.append(now.duration(since: start))
        state.gaps.append(now.duration(since: state.lastAt))
        state.lastAt = now
        state.taken.append(checkout)
      }
    }
  }

  var taken: Int { state.withLock { $0.taken.count } }

  /// Waits until this many more are acknowledged.
  func takeMore(_ count: Int) throws {
    let goal = taken + count
    try waitUntil("more is taken (seed \(seed))") { taken >= goal }
  }

  /// The longest time without a 2xx since the last call.
  func takeLongestGap() -> Duration {
    state.withLock { state in
      defer { state.gaps = [] }
      return state.gaps.max() ?? .zero
    }
  }

  /// How long the answers to the acknowledged events took, in milliseconds.
  var answerTimes: [Int64] { state.withLock { $0.answerTimes.map(\.milliseconds) } }

  func use(ports: [UInt16]) { state.withLock { $0.ports = ports } }

  /// Ends the threads.
  /// - Returns: the acknowledged checkouts.
  @discardableResult func stop() -> [Checkout] {
    state.update { $0.isOver = true }
    for thread in threads { thread.join() }
    threads = []
    return state.withLock { $0.taken }
  }
}
