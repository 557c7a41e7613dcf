// Runs a program with several commands, from its arguments to its exit code. One thread.

internal import Platform

/// One command: its line in the table, and its code.
public struct CommandVerb<Session>: Sendable {
  public let spec: CommandSpec
  public let run: @Sendable (Session) throws -> ExitCode

  public init(spec: CommandSpec, run: @escaping @Sendable (Session) throws -> ExitCode) {
    self.spec = spec
    self.run = run
  }
}

/// A failure with its exit code.
public struct OperatorFault: Error, Equatable {
  public let code: ExitCode
  /// The program's own words; untrusted input in it is already cleaned.
  public let message: String

  public init(_ code: ExitCode, _ message: String) {
    self.code = code
    self.message = message
  }
}

extension ProgramSpec {
  /// Runs one command. All its results and errors go to the output.
  /// - Parameters:
  ///   - arguments: without the program's name.
  ///   - verbs: the code of each of the program's commands.
  ///   - explain: the exit code and the messages of an error that this module does not know; nil for others.
  ///   - session: what the code gets.
  public func run<Session>(
    _ arguments: [String], _ verbs: [CommandVerb<Session>], output: Output,
    explain: (any Error) -> (ExitCode, [String])?, session: (ParsedCommand) -> Session
  ) -> ExitCode {
    let code: ExitCode
    do {
      switch try CommandParser(self).parse(arguments) {
      case .show(let text):
        output.text(text)
        code = .done
      case .run(let command):
        code = try verbs.first { $0.spec.path == command.path }?.run(session(command)) ?? .usage
      }
    } catch {
      let messages: [String]
      switch error {
      case let error as UsageError: (code, messages) = (.usage, [error.description])
      case let error as OperatorFault: (code, messages) = (error.code, [error.message])
      default: (code, messages) = explain(error) ?? (.failed, ["\(error)"])
      }
      for message in messages { output.error(message) }
    }
    guard let failure = output.result.failure else { return code }
    output.error("could not write the result: \(failure.reason)")
    return .failed
  }
}
