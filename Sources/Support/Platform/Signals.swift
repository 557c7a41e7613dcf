// Signals that one thread waits for, without handlers that interrupt (sigwait(3)).

internal import Formats
internal import Glibc

/// The signals that the daemon handles.
public enum Signal: Sendable, Equatable {
  /// SIGTERM, SIGINT: stop.
  case stop
  /// SIGHUP: reload the configuration.
  case reload
  /// SIGUSR1: another process changed the database.
  case wake

  fileprivate var numbers: [Int32] {
    switch self {
    case .stop: [SIGTERM, SIGINT]
    case .reload: [SIGHUP]
    case .wake: [SIGUSR1]
    }
  }
}

/// Blocks, sends and waits for signals.
public enum Signals {
  private static let known: [Signal] = [.stop, .reload, .wake]

  /// Blocks the known signals for this thread and all threads that it starts. Ignores SIGPIPE, so that a
  /// write to a closed connection returns an error and does not end the process. Call it before any other
  /// thread exists.
  public static func block() {
    var set = set()
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    signal(SIGPIPE, SIG_IGN)
  }

  /// Ignores SIGUSR1 in a program that is not receiptd: its process id may be one that receiptd had before.
  public static func ignoreWake() { signal(SIGUSR1, SIG_IGN) }

  /// Waits for the next known signal.
  /// - Parameter duration: how long at most; a negative one does not wait.
  /// - Returns: nil on a timeout.
  public static func wait(for duration: Duration) -> Signal? {
    var set = set()
    var timeout = MonotonicInstant(nanoseconds: duration.nanoseconds).timespec
    let number = unsafe sigtimedwait(&set, nil, &timeout)
    return known.first { $0.numbers.contains(number) }
  }

  /// Runs `body`. When SIGTERM or SIGINT arrives meanwhile, runs `cleanup` and ends the process immediately,
  /// whatever `body` does. Call it before any other thread exists; the signals stay blocked afterwards.
  /// - Parameter cleanup: returns whether the process may end; false when `body` cannot be undone and
  ///   continues.
  public static func guarding(
    exitCode: Int32, cleanup: @escaping @Sendable () -> Bool, _ body: () throws -> Void
  ) throws {
    block()
    let isOver = Monitor(false)
    let watch = try WorkerThread(name: "signals") {
      while !isOver.withLock({ $0 }) {
        guard wait(for: .milliseconds(50)) == .stop, cleanup() else { continue }
        _exit(exitCode)
      }
    }
    defer {
      isOver.withLock { $0 = true }
      watch.join()
    }
    try body()
  }

  /// Notifies a receiptd that the database was changed.
  /// - Returns: whether the signal was sent.
  @discardableResult public static func wake(process: Int32) -> Bool {
    process > 0 && kill(process, SIGUSR1) == 0
  }

  /// Makes a receiptd reload its configuration.
  public static func reload(process: Int32) throws(SystemError) {
    // 0 and negative ids mean process groups (kill(2)).
    guard process > 0, kill(process, SIGHUP) == 0 else { throw .last("kill") }
  }

  private static func set() -> sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in known.flatMap(\.numbers) { unsafe sigaddset(&set, number) }
    return set
  }
}
