// The exit codes of both programs (contract of the programs). The numbers from 64 on are those of BSD's
// sysexits(3).

/// What a program reports to its parent process.
public enum ExitCode: Int32, Error, Sendable, CaseIterable {
  case done = 0
  case failed = 1
  /// A bulk command finished partly: some of the receipts that it waited for failed.
  case partly = 3
  /// The command line was invalid.
  case usage = 64
  /// The input was invalid.
  case badData = 65
  case notFound = 66
  /// A required service does not answer.
  case unavailable = 69
  /// A write to the disk failed.
  case diskFault = 74
  case tryAgain = 75
  /// Not allowed, or only with `--force` or `--yes`.
  case refused = 77
  /// The configuration has faults.
  case configuration = 78

  /// Its description, for manual pages.
  public var meaning: String {
    switch self {
    case .done: "All was done."
    case .failed: "It failed; stderr says why."
    case .partly: "A part of it failed; the rest was done."
    case .usage: "The command line was wrong."
    case .badData: "The input was wrong, or a database is damaged."
    case .notFound: "The named item does not exist."
    case .unavailable: "A required service does not answer."
    case .diskFault: "The disk did not keep written data."
    case .tryAgain: "Temporary failure; try again."
    case .refused: "It was refused; stderr says why."
    case .configuration: "The configuration has faults."
    }
  }
}
