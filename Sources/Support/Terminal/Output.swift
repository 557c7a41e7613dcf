// A program's output: results to stdout, everything else to stderr. A closed reader (`| head`) is no error:
// the rest is dropped silently. Thread-safe; lines of several threads have no order.

public import Formats
public import Platform

/// One output stream of a program.
public final class OutputChannel: Sendable {
  private struct State {
    var failure: SystemError?
  }

  public let isTerminal: Bool
  private let state = Monitor(State())
  private let sizeNow: @Sendable () -> (columns: Int, rows: Int)?
  private let sink: @Sendable ([UInt8]) throws(SystemError) -> Void

  /// - Parameters:
  ///   - size: called each time, because windows change.
  ///   - sink: writes all of the bytes or throws.
  public init(
    isTerminal: Bool, size: @escaping @Sendable () -> (columns: Int, rows: Int)? = { nil },
    sink: @escaping @Sendable ([UInt8]) throws(SystemError) -> Void
  ) {
    self.isTerminal = isTerminal
    sizeNow = size
    self.sink = sink
  }

  /// A stream of the process.
  public convenience init(_ stream: StandardStream) {
    // A dumb terminal has no control sequences (terminfo(5)); it is treated as a pipe.
    let isTerminal = stream.isTerminal && Environment.process["TERM"] != "dumb"
    self.init(isTerminal: isTerminal, size: { stream.size }) { bytes throws(SystemError) in
      try stream.write(bytes)
    }
  }

  /// The terminal's current width; nil when the stream is not a terminal.
  public var columns: Int? { isTerminal ? sizeNow()?.columns : nil }

  /// The terminal's current number of lines; nil when the stream is not a terminal or the number is unknown.
  public var rows: Int? { isTerminal ? sizeNow().flatMap { $0.rows > 0 ? $0.rows : nil } : nil }

  /// The current size; nil when the stream is not a terminal.
  var size: (columns: Int, rows: Int)? { isTerminal ? sizeNow() : nil }

  /// Whether the reader is gone or a write failed; a program that writes for ever (`--watch`) ends then.
  public var isClosed: Bool { state.withLock { $0.failure != nil } }

  /// Why a write failed (a full disk, for example); nil also when only the reader went away.
  public var failure: SystemError? {
    state.withLock { $0.failure.flatMap { $0.isBrokenPipe ? nil : $0 } }
  }

  /// Writes the text, unless an earlier write failed.
  public func write(_ text: String) { write(Array(text.utf8)) }

  /// Writes the bytes, unless an earlier write failed.
  public func write(_ bytes: [UInt8]) {
    guard !isClosed else { return }
    do {
      try sink(bytes)
    } catch {
      state.withLock { $0.failure = error }
    }
  }
}

/// A program's output and questions.
public struct Output: Sendable {
  /// stdout: results.
  public let result: OutputChannel
  /// stderr: questions, progress, errors.
  public let notes: OutputChannel
  private let program: String
  private let environment: Environment
  private let isInputTerminal: Bool
  private let answer: @Sendable () -> String?

  /// - Parameters:
  ///   - program: the prefix of each error.
  ///   - answer: reads one line from the user.
  public init(
    program: String, result: OutputChannel, notes: OutputChannel, environment: Environment,
    isInputTerminal: Bool,
    answer: @escaping @Sendable () -> String?
  ) {
    self.program = program
    self.result = result
    self.notes = notes
    self.environment = environment
    self.isInputTerminal = isInputTerminal
    self.answer = answer
  }

  /// The streams of the process. Turns SIGPIPE into a write error, so that a broken pipe does not end the
  /// process.
  public static func standard(program: String) -> Output {
    StandardStream.ignoreBrokenPipes()
    return Output(
      program: program, result: OutputChannel(.output), notes: OutputChannel(.error), environment: .process,
      isInputTerminal: StandardStream.input.isTerminal, answer: { StandardStream.input.line() })
  }

  /// The same with another stream for results.
  func with(result: OutputChannel) -> Output {
    Output(
      program: program, result: result, notes: notes, environment: environment,
      isInputTerminal: isInputTerminal, answer: answer)
  }

  /// Whether results are coloured.
  public var isInColour: Bool {
    Style.isColourWanted(isTerminal: result.isTerminal, environment: environment)
  }

  /// Writes a line of the result.
  /// - Parameter text: the program's own words; untrusted input must pass `DisplayText.clean` first.
  public func line(_ text: String = "") { result.write(text + "\n") }

  /// Writes a result unchanged, such as help.
  public func text(_ text: String) { result.write(text) }

  /// Writes one JSON object on its own line.
  public func json(_ value: JSONValue) { result.write(value.text + "\n") }

  /// - Parameter namesDropped: whether a line below it names the columns that the terminal is too narrow for.
  public func table(_ table: Table, namesDropped: Bool = true) {
    write(table, to: result, inColour: isInColour, namesDropped: namesDropped)
  }

  /// Writes a table to stderr, such as before a question.
  public func note(_ table: Table) { write(table, to: notes, inColour: false, namesDropped: true) }

  private func write(_ table: Table, to channel: OutputChannel, inColour: Bool, namesDropped: Bool) {
    channel.write(table.text(inColour: inColour, terminalColumns: channel.columns))
    let dropped = namesDropped ? table.dropped(terminalColumns: channel.columns) : []
    guard !dropped.isEmpty else { return }
    channel.write("Too wide for this terminal: \(dropped.joined(separator: ", ")); see --json.\n")
  }

  /// Writes a line to stderr.
  public func note(_ text: String) { notes.write(text + "\n") }

  /// Writes an error to stderr: `receiptctl: message`.
  public func error(_ message: String) {
    let inColour = Style.isColourWanted(isTerminal: notes.isTerminal, environment: environment)
    notes.write("\(Style.red.applied(to: "\(program):", inColour: inColour)) \(message)\n")
  }

  /// Whether a user at a terminal can answer questions.
  public var canAsk: Bool { isInputTerminal }

  /// Asks on stderr; `y` and `yes` in any case mean yes, everything else and the end of the input mean no.
  public func confirm(_ prompt: String) -> Bool {
    notes.write("\(prompt) [y/N] ")
    let line = answer()
    // Unless the user ended the line, the next output would continue on the question's line.
    if line == nil || !isInputTerminal { notes.write("\n") }
    let word = line.map { $0.filter { !$0.isWhitespace }.lowercased() }
    return word == "y" || word == "yes"
  }
}

// MARK: - Style

// Colours, only on a terminal whose user did not disable them. Pure; any thread.

/// A text style (ECMA-48 §8.3.117, SGR).
public enum Style: Sendable, Equatable {
  case plain, bold, dim, red, green, yellow, cyan

  private var code: Int? {
    switch self {
    case .plain: nil
    case .bold: 1
    case .dim: 2
    case .red: 31
    case .green: 32
    case .yellow: 33
    case .cyan: 36
    }
  }

  /// The text in this style.
  /// - Parameter text: must be clean (`DisplayText.clean`).
  public func applied(to text: String, inColour: Bool) -> String {
    guard inColour, let code, !text.isEmpty else { return text }
    return "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }

  /// Whether to use colour: on a terminal that is not dumb, unless NO_COLOR is set (no-color.org: set and not
  /// empty).
  public static func isColourWanted(isTerminal: Bool, environment: Environment) -> Bool {
    isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }
}
