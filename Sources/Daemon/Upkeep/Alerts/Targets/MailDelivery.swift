// An e-mail under way: the system's sendmail program, served step by step. One thread.

internal import Formats
public import Platform

/// An e-mail to send.
public struct Mail: Sendable, Equatable {
  /// The path of the program.
  var program: String
  var arguments: [String]
  var bytes: [UInt8]
}

/// A program that sends an e-mail.
public final class MailDelivery {
  /// How long the program may take.
  static let timeout: Duration = .seconds(30)
  /// EX_TEMPFAIL of sysexits.h.
  private static let temporaryFailure: Int32 = 75
  /// The pause between two steps.
  public static let stepPause: Duration = .milliseconds(20)

  private let process: Subprocess
  private let startedAt: MonotonicInstant
  private var hasTimedOut = false

  /// Starts the program.
  /// - Throws: `SystemError` if it cannot be run.
  public init(_ mail: Mail, now: MonotonicInstant) throws(SystemError) {
    process = try Subprocess(
      mail.program, mail.arguments, variables: Subprocess.variables, input: mail.bytes)
    startedAt = now
  }

  /// - Returns: nil while the program runs.
  public func step(now: MonotonicInstant) -> AlertAttempt? {
    if now.duration(since: startedAt) >= Self.timeout, !hasTimedOut {
      hasTimedOut = true
      process.kill()
    }
    return process.step().map(result)
  }

  /// Ends the program. `step` then returns its end.
  func cancel() { process.kill() }

  /// The exit code decides. Also after EX_TEMPFAIL the message is sent again: sendmail has queued it then,
  /// other programs have not, and a notice that comes twice is better than none.
  private func result(_ end: Subprocess.End) -> AlertAttempt {
    let words: String
    var isInDoubt = true
    switch end {
    case .exited(code: 0): return AlertAttempt(isAccepted: true, text: "sendmail exited with 0")
    case .exited(let code):
      words = "sendmail exited with \(code)"
      isInDoubt = code == Self.temporaryFailure
    case .killed where hasTimedOut: words = "sendmail took longer than \(DurationText.text(Self.timeout))"
    case .killed(let signal): words = "sendmail was ended by signal \(signal)"
    }
    return AlertAttempt(
      isAccepted: false, mayHaveArrived: isInDoubt,
      text: process.said.isEmpty ? words : "\(words): \(process.said)")
  }
}

extension AlertAttempt {
  /// The program could not be run.
  public init(notStarted error: SystemError, _ mail: Mail) {
    self.init(isAccepted: false, text: "cannot run \(mail.program): \(error.reason)")
  }
}
