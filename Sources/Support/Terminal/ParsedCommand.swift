// A parsed command line, checked against the table. Pure; any thread.

internal import Platform

/// A command line that the program cannot parse: what is wrong and what to do. The exit code is
/// `ExitCode.usage`.
public struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What is wrong, with a suggestion if there is one.
  public let message: String
  /// The command that shows help, such as `receiptctl receipts list --help`; nil when the parser does not add
  /// it.
  public let helpCommand: String?

  public init(_ message: String, helpCommand: String? = nil) {
    self.message = message
    self.helpCommand = helpCommand
  }

  /// The message, then the command that shows help.
  public var description: String { helpCommand.map { "\(message)\nSee: \($0)" } ?? message }
}

/// What the program should do.
public enum Invocation: Sendable, Equatable {
  case run(ParsedCommand)
  /// Print this text to stdout and end with `ExitCode.done`.
  case show(String)
}

/// The values of options, by name without hyphens.
public struct OptionValues: Sendable, Equatable {
  private var values: [String: [String]] = [:]

  init() {}

  /// The value, the last one if there are several; nil when the option was not given.
  public subscript(name: String) -> String? { values[name]?.last }

  /// Every value in the order given.
  public func all(_ name: String) -> [String] { values[name] ?? [] }

  /// Whether it was given.
  public func contains(_ name: String) -> Bool { values[name] != nil }

  mutating func add(_ value: String, to name: String) { values[name, default: []].append(value) }
}

/// A command with its options and arguments.
public struct ParsedCommand: Sendable, Equatable {
  public let spec: CommandSpec
  public let options: OptionValues
  /// As many as the table requires.
  public let positionals: [String]
  /// The command that shows its help.
  let helpCommand: String

  /// Group and verb.
  public var path: [String] { spec.path }

  /// A mistake on the command line, with the command that shows help.
  public func usage(_ message: String) -> UsageError { UsageError(message, helpCommand: helpCommand) }

  /// Whether a flag was given.
  public func flag(_ name: String) -> Bool { options.contains(name) }

  /// A whole number in a range; nil when the option was not given.
  public func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = options[name] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw refusal(name, "a whole number from \(range.lowerBound) to \(range.upperBound)", text)
    }
    return number
  }

  /// A number in a range; nil when the option was not given.
  public func number(_ name: String, in range: ClosedRange<Double>) throws(UsageError) -> Double? {
    guard let text = options[name] else { return nil }
    guard let number = Double(text), range.contains(number) else {
      throw refusal(name, "a number from \(range.lowerBound) to \(range.upperBound)", text)
    }
    return number
  }

  /// A rate per second, as `5/s` or `5`; nil when the option was not given.
  public func ratePerSecond(_ name: String, in range: ClosedRange<Double>) throws(UsageError) -> Double? {
    guard let text = options[name] else { return nil }
    guard let rate = Self.rate(parsing: text), range.contains(rate) else {
      throw refusal(name, "a rate such as 5/s, from \(range.lowerBound)/s to \(range.upperBound)/s", text)
    }
    return rate
  }

  /// A rate per second, written as `5/s` or `5`; nil if the text is none.
  public static func rate(parsing text: String) -> Double? {
    Double(text.hasSuffix("/s") ? text.dropLast(2) : text[...])
  }

  /// A span such as `90s` or `5m` (`DurationText`); nil when the option was not given.
  public func duration(_ name: String, in range: ClosedRange<Duration>) throws(UsageError) -> Duration? {
    guard let text = options[name] else { return nil }
    guard let duration = DurationText.duration(parsing: text), range.contains(duration) else {
      let bounds = [range.lowerBound, range.upperBound].map(DurationText.text)
      throw refusal(name, "such as 90s or 5m, from \(bounds[0]) to \(bounds[1])", text)
    }
    return duration
  }

  /// A point in time as `MomentText` reads it; nil when the option was not given.
  /// - Parameter now: Unix milliseconds.
  /// - Returns: Unix milliseconds.
  public func time(_ name: String, now: Int64) throws(UsageError) -> Int64? {
    guard let text = options[name] else { return nil }
    guard let time = MomentText.unixMilliseconds(parsing: text, now: now) else {
      throw refusal(name, MomentText.forms, text)
    }
    return time
  }

  private func refusal(_ name: String, _ expected: String, _ text: String) -> UsageError {
    usage("--\(name) must be \(expected), not '\(DisplayText.clean(text))'")
  }
}
