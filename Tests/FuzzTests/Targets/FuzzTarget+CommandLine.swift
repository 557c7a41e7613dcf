// Command lines of both programs, parsed by receiptctl's table.

import Terminal

@testable import CLI

extension FuzzTarget {
  /// One argument a line.
  static let commandLine = FuzzTarget("command-line", bytesMax: 1024) { bytes in
    let arguments = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    let parser = CommandParser(OperatorProgram.spec)
    switch Result(catching: { () throws(UsageError) in try parser.parse(arguments) }) {
    case .success(.show(let text)): try hold(!text.isEmpty, "help without words")
    case .success(.run(let command)):
      try checkCommand(command, parser)
      try checkValues(command)
    case .failure(let error): try checkWords(error)
    }
  }

  /// An error is one line without control sequences for the terminal.
  private static func checkWords(_ error: UsageError) throws {
    try hold(!error.message.isEmpty, "a refusal without words")
    try hold(DisplayText.clean(error.message) == error.message, "not fit for a terminal: \(error.message)")
    try hold(error.helpCommand?.hasPrefix("receiptctl") ?? true, "help that is not ours")
  }

  /// The full form of a command line means the same.
  private static func checkCommand(_ command: ParsedCommand, _ parser: CommandParser) throws {
    try hold(OperatorProgram.spec.commands.contains(command.spec), "a command that is not in the table")
    var line = command.path
    for option in command.spec.options + OperatorProgram.spec.options {
      for value in command.options.all(option.name) {
        line.append(option.isFlag ? "--\(option.name)" : "--\(option.name)=\(value)")
      }
    }
    line += ["--"] + command.positionals
    try hold(try parser.parse(line) == .run(command), "\(line) means something else")
  }

  private static func checkValues(_ command: ParsedCommand) throws {
    for option in command.spec.options {
      let name = option.name
      try checkRange(1...1000) { () throws(UsageError) in try command.integer(name, in: 1...1000) }
      try checkRange(0.5...9) { () throws(UsageError) in try command.number(name, in: 0.5...9) }
      try checkRange(0.5...9) { () throws(UsageError) in try command.ratePerSecond(name, in: 0.5...9) }
      try checkRange(0...Int64.max) { () throws(UsageError) in
        try command.time(name, now: 1_795_168_800_000)
      }
    }
  }

  private static func checkRange<Value: Comparable>(
    _ range: ClosedRange<Value>, _ read: () throws(UsageError) -> Value?
  ) throws {
    switch Result(catching: read) {
    case .success(let value?): try hold(range.contains(value), "\(value) is out of range")
    case .success(nil): break
    case .failure(let error): try checkWords(error)
    }
  }
}
