// The time limits of one transfer. Pure.
//
// libcurl's own limits are not used: its connect timeout includes the name lookup, and after its timeout it
// keeps an HTTP/2 connection.

internal import Formats
internal import Platform

/// How long a transfer may go on. The time of name lookups counts against neither of its two timeouts.
///
/// glibc asks a second name server after five seconds without an answer of the first (resolv.conf(5)); a
/// connect timeout of three seconds that included the lookup would never let it finish.
struct TransferClock {
  private enum Phase { case lookup, connect, exchange }

  let startedAt: MonotonicInstant
  private let timeout: Duration
  private let connectTimeout: Duration
  private var phase = Phase.connect
  private var phaseBeganAt: MonotonicInstant
  /// The total time of the name lookups that have ended.
  private var lookupTime: Duration = .zero

  /// Both timeouts are clamped to 1 ms to `TransferLimits.timeoutMax`.
  init(timeout: Duration, connectTimeout: Duration, now: MonotonicInstant) {
    (startedAt, phaseBeganAt) = (now, now)
    self.timeout = min(max(timeout, .milliseconds(1)), TransferLimits.timeoutMax)
    self.connectTimeout = min(max(connectTimeout, .milliseconds(1)), TransferLimits.timeoutMax)
  }

  mutating func lookupBegan(now: MonotonicInstant) { enter(.lookup, now: now) }
  mutating func connectBegan(now: MonotonicInstant) { enter(.connect, now: now) }
  mutating func exchangeBegan(now: MonotonicInstant) { enter(.exchange, now: now) }

  private mutating func enter(_ next: Phase, now: MonotonicInstant) {
    // A second connect attempt, to another address, does not restart the time.
    guard next != phase else { return }
    if phase == .lookup { lookupTime += now.duration(since: phaseBeganAt) }
    (phase, phaseBeganAt) = (next, now)
  }

  /// When the transfer must end, unless it makes progress.
  var deadline: MonotonicInstant {
    let end = startedAt + lookupTime + timeout
    return switch phase {
    case .lookup: phaseBeganAt + TransferLimits.lookupTimeout
    case .connect: min(phaseBeganAt + connectTimeout, end)
    case .exchange: end
    }
  }

  /// libcurl's connect timeout, in milliseconds from the start. libcurl divides what is left of it among the
  /// addresses of a name, so it moves on while the name is looked up; the deadline comes first.
  func connectLimit(now: MonotonicInstant) -> Int {
    Int((now.duration(since: startedAt) + connectTimeout).milliseconds)
  }

  var isLookingUp: Bool { phase == .lookup }

  /// What took too long.
  var overrun: String {
    switch phase {
    case .lookup: "the name lookup timed out after \(TransferLimits.lookupTimeout.milliseconds) ms"
    case .connect where connectTimeout < timeout:
      "connecting timed out after \(connectTimeout.milliseconds) ms"
    case .connect, .exchange: "timed out after \(timeout.milliseconds) ms"
    }
  }
}
