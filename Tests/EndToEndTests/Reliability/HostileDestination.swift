// One hostile destination: its address, its behaviour on the first requests, and the expected result.
// Afterwards it behaves, so that receipts can recover.

import Formats
import Glibc
import Platform
import TestSupport

/// What the attempt log must contain for each hostile answer.
struct HostileAttempt: Sendable {
  /// The status of the response; it counts even if the response breaks off after it.
  var status: Int64?
  /// The error's name; one of these.
  var errors: [String?]
  /// Whether the request must count as possibly processed; nil where that depends on the kernel.
  var isAmbiguous: Bool? = false
}

/// The expected result for the receipts.
enum HostileOutcome: Sendable, Equatable {
  case delivered
  /// Retried, and delivered when the destination behaves.
  case recovers
  case failed(String)
  /// Still pending, with its next attempt this many seconds away.
  case rests(ClosedRange<Int64>)
}

/// A row of the table.
struct HostileDestination: Sendable {
  enum Place: Sendable {
    /// A script plays every hostile connection.
    case scripted(@Sendable (ScriptedConnection) -> Void)
    /// Like `scripted`, where the client speaks TLS.
    case scriptedTLS(@Sendable (ScriptedConnection) -> Void)
    case refused, fullBacklog, neverAccepted, unresolved, selfSigned
  }

  let name: String
  let place: Place
  let attempt: HostileAttempt
  let outcome: HostileOutcome
  /// Whether the delivery must time out.
  var isSlow = false

  /// The number of receipts that meet it; one, if the first answer pauses the whole app.
  var receipts: Int { outcome.isFinal ? Torture.size(short: 1, long: 25) : 1 }

  /// The app's settings for this row: one attempt only, where nothing recovers.
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

/// The running destination of a row: hostile to this many connections, and good to later ones.
final class HostileServer: Sendable {
  private let server: ScriptedServer

  init(hostileConnections: Int, _ script: @escaping @Sendable (ScriptedConnection) -> Void) throws {
    let left = Monitor(hostileConnections)
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

  func stop() { server.stop() }
}

/// A listening socket that never accepts.
final class DeafListener {
  private let descriptor: Int32
  private var fillers: [Wire] = []
  let port: UInt16

  /// - Parameter isFull: whether its queue is full, so that the kernel drops further connections.
  init(isFull: Bool) throws {
    (descriptor, port) = try openSocket()
    guard listen(descriptor, isFull ? 0 : 512) == 0 else { throw SystemError.last("listen") }
    // A queue of length 0 holds one connection (listen(2), tcp_acceptq).
    if isFull { fillers = [try Wire(port)] }
  }

  deinit { close(descriptor) }
}
