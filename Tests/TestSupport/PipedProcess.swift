// A child process with pipes: helpers in other processes, and servers to test a client with. One thread.

internal import Formats
internal import Glibc
public import Platform

/// A running program with pipes to its input and output. Owns the pipes and the process.
public final class PipedProcess {
  private var process: Spawn?
  /// Negative once it is closed.
  private var input: Int32
  private let output: Int32
  private var received: [UInt8] = []
  private var lineStart = 0

  /// The process id.
  public let id: Int32

  /// - Parameters:
  ///   - words: a name in PATH, and its arguments.
  ///   - showsErrors: whether its standard error is that of the tests.
  public init(_ words: [String], showsErrors: Bool = true) throws(SystemError) {
    let (toChild, fromChild) = (try Spawn.pipe(), try Spawn.pipe())
    defer {
      close(toChild.reading)
      close(fromChild.writing)
    }
    (input, output) = (toChild.writing, fromChild.reading)
    var files: [(descriptor: Int32, file: Spawn.File)] = [
      (0, .same(toChild.reading)), (1, .same(fromChild.writing)),
    ]
    if !showsErrors { files.append((2, .nowhere)) }
    let process = try Spawn(words, files: files)
    id = process.id
    self.process = consume process
  }

  deinit {
    endInput()
    close(output)
  }

  /// Closes the program's input.
  public func endInput() {
    guard input >= 0 else { return }
    close(input)
    input = -1
  }

  /// Kills the program, and returns when it has ended.
  public func kill() { process = nil }

  public func feed(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(input, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      // What is missing shows in the program's answers.
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// All output so far.
  public var printed: String { String(decoding: received, as: UTF8.self) }

  /// The next line of its output; nil at its end, or after five minutes without any.
  public func line() -> String? {
    while true {
      if let end = received[lineStart...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { lineStart = end + 1 }
        return String(decoding: received[lineStart..<end], as: UTF8.self)
      }
      guard read(within: .seconds(300)) else { return nil }
    }
  }

  /// Reads what it has printed since.
  /// - Returns: whether there was anything in time.
  @discardableResult public func read(within span: Duration) -> Bool {
    var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&entry, 1, Int32(clamping: span.milliseconds)) > 0 else { return false }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe Glibc.read(output, &buffer, buffer.count)
    guard count > 0 else { return false }
    received += buffer.prefix(count)
    return true
  }
}
