// Signals as something one thread waits for, never as handlers that interrupt (sigwait(3)).

internal import Glibc

/// The signals that a daemon of this project knows.
public enum Signal: Sendable, Equatable {
  /// SIGTERM, SIGINT: end.
  case stop
  /// SIGHUP: read the configuration again.
  case reload
  /// SIGUSR1: the database was changed by another process.
  case wake

  fileprivate var numbers: [Int32] {
    switch self {
    case .stop: [SIGTERM, SIGINT]
    case .reload: [SIGHUP]
    case .wake: [SIGUSR1]
    }
  }
}

/// Waiting for signals.
public enum Signals {
  private static let known: [Signal] = [.stop, .reload, .wake]

  /// Blocks the known signals for this thread and all that it will start, and ignores SIGPIPE: a peer that is
  /// gone is an error of write(2), not the end. Call it before any thread exists.
  public static func block() {
    var set = set()
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    signal(SIGPIPE, SIG_IGN)
  }

  /// Ignores what wakes a receiptd, for a program that is none: its process number may be one that receiptd
  /// had.
  public static func ignoreWake() { signal(SIGUSR1, SIG_IGN) }

  /// Waits for the next known signal.
  /// - Returns: nil when the time is up.
  public static func wait(milliseconds: Int64) -> Signal? {
    var set = set()
    var timeout = timespec(tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000 * 1_000_000))
    let number = unsafe sigtimedwait(&set, nil, &timeout)
    return known.first { $0.numbers.contains(number) }
  }

  /// Runs `body`. When SIGTERM or SIGINT arrives meanwhile, runs `cleanup` and ends the process at once,
  /// whatever `body` does. Call it before any other thread exists; signals stay blocked afterwards.
  /// - Parameter cleanup: returns whether the process may end; false when `body` cannot be undone any more,
  ///   and goes on.
  public static func guarding(
    exitCode: Int32, cleanup: @escaping @Sendable () -> Bool, _ body: () throws -> Void
  ) throws {
    block()
    let isOver = Monitor(false)
    let watch = try WorkerThread(name: "signals") {
      while !isOver.withLock({ $0 }) {
        guard wait(milliseconds: 50) == .stop, cleanup() else { continue }
        _exit(exitCode)
      }
    }
    defer {
      isOver.withLock { $0 = true }
      watch.join()
    }
    try body()
  }

  /// Tells a receiptd that the database was changed.
  /// - Returns: whether the process could be told.
  @discardableResult public static func wake(process: Int32) -> Bool {
    process > 0 && kill(process, SIGUSR1) == 0
  }

  /// Tells a receiptd to read its configuration again.
  public static func reload(process: Int32) throws(SystemError) {
    // 0 and less would mean groups of processes (kill(2)).
    guard process > 0, kill(process, SIGHUP) == 0 else { throw .last("kill") }
  }

  private static func set() -> sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in known.flatMap(\.numbers) { unsafe sigaddset(&set, number) }
    return set
  }
}
