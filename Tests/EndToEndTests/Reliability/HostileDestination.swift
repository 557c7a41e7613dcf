// One hostile destination: where it is, what it does to the first requests, and what must become of those.
// From then on it behaves, so that what can recover does.

import Glibc
import JSON
import Platform
import TestSupport

/// What the log of attempts must say of each hostile answer.
struct HostileAttempt: Sendable {
  /// The status of the answer; it stands whatever breaks off behind it.
  var status: Int64?
  /// The word for what went wrong; one of these.
  var errors: [String?]
  /// Whether it must count as sent and maybe taken in; nil where that is up to the kernel.
  var isAmbiguous: Bool? = false
}

/// What must become of the receipts.
enum HostileOutcome: Sendable, Equatable {
  case delivered
  /// Tried again, and delivered once the destination behaves.
  case recovers
  case failed(String)
  /// Still pending, with its next try so many seconds away.
  case rests(ClosedRange<Int64>)
}

/// A row of the table.
struct HostileDestination: Sendable {
  enum Place: Sendable {
    /// Every hostile connection is played by a script.
    case scripted(@Sendable (ScriptedConnection) -> Void)
    /// The same, where TLS is spoken to it.
    case scriptedTLS(@Sendable (ScriptedConnection) -> Void)
    case refused, fullBacklog, neverAccepted, unresolved, selfSigned
  }

  let name: String
  let place: Place
  let attempt: HostileAttempt
  let outcome: HostileOutcome
  /// Whether the time for a delivery must run out.
  var isSlow = false

  /// How many receipts it is hostile to: one, where the first answer lets the whole app rest.
  var receipts: Int { outcome.isFinal ? Torture.size(short: 1, long: 25) : 1 }

  /// The part of the app's configuration that differs: where nothing recovers, one try is all there is.
  func delivery(concurrency: Int64) -> JSONValue {
    let pause: JSONValue = outcome.isFinal ? "50ms" : "10m"
    return [
      "timeout": .string(isSlow ? Torture.isLong ? "2s" : "700ms" : "20s"),
      "connect_timeout": .string(isSlow ? "400ms" : "10s"),
      "concurrency": .integer(concurrency), "rate": 10_000, "retry": ["schedule": [pause]],
      "breaker": ["failures": 1_000_000, "open_for": outcome.isFinal ? "50ms" : "10m"],
    ]
  }
}

extension HostileOutcome {
  var isFinal: Bool {
    if case .rests = self { return false }
    return true
  }
}

/// A row's destination as it runs: hostile to so many connections, and good to those that follow.
final class HostileServer: Sendable {
  private let server: ScriptedServer
  private let left: Monitor<Int>

  init(hostileConnections: Int, _ script: @escaping @Sendable (ScriptedConnection) -> Void) throws {
    let left = Monitor(hostileConnections)
    self.left = left
    server = try ScriptedServer { connection in
      let isHostile = left.withLock { left in
        left -= 1
        return left >= 0
      }
      if isHostile { return script(connection) }
      while connection.readRequest() != nil, connection.answer("202 Accepted", #"{"id":"imp-good"}"#) {}
    }
  }

  var port: UInt16 { server.port }
  var accepted: Int { server.accepted }
  /// Whether every hostile connection came.
  var isSpent: Bool { left.withLock { $0 <= 0 } }

  func stop() { server.stop() }
}

/// A listening socket that nobody accepts from.
final class DeafListener {
  private let descriptor: Int32
  private var fillers: [Wire] = []
  let port: UInt16

  /// - Parameter isFull: whether its queue is full, so that the kernel drops what else wants in.
  init(isFull: Bool) throws {
    (descriptor, port) = try openSocket()
    guard listen(descriptor, isFull ? 0 : 512) == 0 else { throw SystemError.last("listen") }
    // A queue of length 0 holds one connection (listen(2), tcp_acceptq).
    if isFull { fillers = [try Wire(port)] }
  }

  deinit { close(descriptor) }
}
