// Where a program's words go: results to stdout, everything about them to stderr. A reader that goes away (`|
// head`) is no error: the rest is dropped quietly. Any thread, though lines of several threads may come in
// any order.

public import JSON
public import Platform

/// One stream that a program writes to.
public final class OutputChannel: Sendable {
  private struct State {
    var failure: SystemError?
  }

  public let isTerminal: Bool
  private let state = Monitor(State())
  private let sizeNow: @Sendable () -> (columns: Int, rows: Int)?
  private let sink: @Sendable ([UInt8]) throws(SystemError) -> Void

  /// - Parameters:
  ///   - size: asked again each time, since windows change.
  ///   - sink: takes all of the bytes or throws.
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
    // A dumb one takes no control sequences (terminfo(5)); to it is written as to a pipe.
    let isTerminal = stream.isTerminal && Environment.process["TERM"] != "dumb"
    self.init(isTerminal: isTerminal, size: { stream.size }) { bytes throws(SystemError) in
      try stream.write(bytes)
    }
  }

  /// The terminal's width now; nil when this is none.
  public var columns: Int? { isTerminal ? sizeNow()?.columns : nil }

  /// How many lines the terminal has now; nil when this is none or it does not say.
  public var rows: Int? { isTerminal ? sizeNow().flatMap { $0.rows > 0 ? $0.rows : nil } : nil }

  /// Its size now; nil when it is no terminal.
  var size: (columns: Int, rows: Int)? { isTerminal ? sizeNow() : nil }

  /// Whether nobody reads any more; a program that would write for ever (`--watch`) ends then.
  public var isClosed: Bool { state.withLock { $0.failure != nil } }

  /// Why a write failed (a full disk, say); nil also when only the reader went away.
  public var failure: SystemError? {
    state.withLock { $0.failure.flatMap { $0.isBrokenPipe ? nil : $0 } }
  }

  /// Writes, unless a write failed before.
  public func write(_ text: String) {
    guard !isClosed else { return }
    do {
      try sink(Array(text.utf8))
    } catch {
      state.withLock { $0.failure = error }
    }
  }
}

/// What a program says and asks.
public struct Output: Sendable {
  /// stdout: what was asked for.
  public let result: OutputChannel
  /// stderr: questions, progress, faults.
  public let notes: OutputChannel
  private let program: String
  private let environment: Environment
  private let isInputTerminal: Bool
  private let answer: @Sendable () -> String?

  /// - Parameters:
  ///   - program: stands before each error.
  ///   - answer: reads one line from whoever is asked.
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

  /// The streams of the process. Makes a broken pipe an error instead of the program's end.
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

  /// A line of the result.
  /// - Parameter text: the program's own words; what comes from outside goes through `DisplayText.clean`
  ///   first.
  public func line(_ text: String = "") { result.write(text + "\n") }

  /// A text of the result as it is, such as help.
  public func text(_ text: String) { result.write(text) }

  /// One JSON object on a line of its own.
  public func json(_ value: JSONValue) { result.write(value.text + "\n") }

  public func table(_ table: Table) {
    result.write(table.text(inColour: isInColour, terminalColumns: result.columns))
  }

  /// A line on stderr.
  public func note(_ text: String) { notes.write(text + "\n") }

  /// What went wrong, on stderr: `receiptctl: message`.
  public func error(_ message: String) {
    let inColour = Style.isColourWanted(isTerminal: notes.isTerminal, environment: environment)
    notes.write("\(Style.red.applied(to: "\(program):", inColour: inColour)) \(message)\n")
  }

  /// Whether a person is there to be asked.
  public var canAsk: Bool { isInputTerminal }

  /// Asks on stderr; `y` and `yes` in any case agree, everything else and the end of the input do not.
  public func confirm(_ prompt: String) -> Bool {
    notes.write("\(prompt) [y/N] ")
    let line = answer()
    // Without a person who ended the line, the question would run into what follows.
    if line == nil || !isInputTerminal { notes.write("\n") }
    let word = line.map { $0.filter { !$0.isWhitespace }.lowercased() }
    return word == "y" || word == "yes"
  }
}
