// Runs receiptctl from its arguments to its exit code. All input and output of a command go through its
// `Dependencies`, so that a test can run it in its own process. One thread.

internal import Config
public import Platform
internal import Store
public import Terminal

/// The dependencies of receiptctl.
public struct OperatorDependencies: Sendable {
  public var output: Output
  public var environment: Environment
  public var clock: any Clock
  /// The user who runs it, for the audit.
  public var actor: String
  /// Reads standard input to its end; returns nil when it is longer than this many bytes.
  public var input: @Sendable (Int) throws -> [UInt8]?
  /// Waits for this long.
  public var pause: @Sendable (Duration) -> Void
  /// Blocks the signals that end a program and leaves them to `isStopped`. Called before any thread is
  /// started.
  public var catchStop: @Sendable () -> Void
  /// Runs the second closure, which leaves files if it is interrupted. If SIGTERM or SIGINT arrives
  /// meanwhile, runs the first closure and ends the program. Called before any thread is started.
  public var guarding: @Sendable (@escaping @Sendable () -> Bool, () throws -> Void) throws -> Void
  /// Waits for this long, and returns whether a signal asked the program to end.
  public var isStopped: @Sendable (Duration) -> Bool
  /// Whether something keeps the machine's clock right.
  public var clockDiscipline: @Sendable () -> ClockDiscipline?
  /// The process that uses the database file at a path exclusively; nil if none does.
  public var lockHolder: @Sendable (String) -> LockHolder?
  /// What the receiptd of this machine answers at /readyz; nil if it cannot be asked.
  var readiness: @Sendable (Configuration.Admin) -> ReadyCommand.Answer? = { ReadyCommand.current($0) }

  public init(
    output: Output, environment: Environment = .process, clock: any Clock = SystemClock(),
    actor: String? = nil,
    input: @escaping @Sendable (Int) throws -> [UInt8]? = { try StandardStream.input.rest(bytesMax: $0) },
    pause: @escaping @Sendable (Duration) -> Void = Self.sleep,
    catchStop: @escaping @Sendable () -> Void = { Signals.block() },
    guarding: @escaping @Sendable (@escaping @Sendable () -> Bool, () throws -> Void) throws -> Void = {
      try Signals.guarding(exitCode: ExitCode.tryAgain.rawValue, cleanup: $0, $1)
    },
    isStopped: @escaping @Sendable (Duration) -> Bool = { Signals.wait(for: $0) == .stop },
    clockDiscipline: @escaping @Sendable () -> ClockDiscipline? = { ClockDiscipline.current() },
    lockHolder: (@Sendable (String) -> LockHolder?)? = nil
  ) {
    self.output = output
    self.environment = environment
    self.clock = clock
    self.actor = actor ?? LoginUser.name(environment: environment)
    self.input = input
    self.pause = pause
    self.catchStop = catchStop
    self.guarding = guarding
    self.isStopped = isStopped
    self.clockDiscipline = clockDiscipline
    self.lockHolder = lockHolder ?? { DatabaseAccess.holder($0) }
  }

  /// Sleeps on the monotonic clock.
  public static func sleep(for duration: Duration) {
    let deadline = MonotonicInstant.now().advanced(by: duration)
    let _: Bool? = Monitor(()).wait(until: deadline) { _ in nil }
  }
}

/// The program `receiptctl`.
public enum OperatorProgram {
  public static let name = "receiptctl"

  /// The command line: the one table that parses and prints help.
  public static var spec: ProgramSpec { CommandTable.spec }

  /// Runs one command.
  /// - Parameter arguments: without the program's name.
  public static func run(_ arguments: [String], in dependencies: OperatorDependencies) -> ExitCode {
    CommandTable.spec.run(arguments, CommandTable.verbs, output: dependencies.output) { error in
      if let fault = (error as? StoreFault).map(OperatorFault.init) { return (fault.code, [fault.message]) }
      return ConfigurationFaults.lines(of: error).map { (.configuration, $0) }
    } session: {
      Session($0, dependencies)
    }
  }
}
