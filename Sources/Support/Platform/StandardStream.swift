// The three standard streams of a program: whether they are a terminal, its size, and input and output.
// Thread-safe. A write is complete or throws.

internal import Glibc

/// One of the standard streams of a program.
public enum StandardStream: Sendable {
  case input, output, error

  private var descriptor: Int32 {
    switch self {
    case .input: STDIN_FILENO
    case .output: STDOUT_FILENO
    case .error: STDERR_FILENO
    }
  }

  /// Whether the stream is a terminal (isatty(3)).
  public var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The terminal's current size; nil when the stream is not a terminal or reports none (TIOCGWINSZ,
  /// ioctl_tty(2)).
  public var size: (columns: Int, rows: Int)? {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Writes all bytes.
  /// - Throws: the error of write(2); EPIPE when the reader has closed the stream, given that SIGPIPE is
  ///   ignored.
  public func write(_ bytes: [UInt8]) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0 && errno == EINTR { continue }
      guard written >= 0 else { throw .last("write") }
      rest = rest.dropFirst(written)
    }
  }

  /// Reads up to the next newline, which is dropped.
  /// - Parameter bytesMax: the longest part of a line to read; the rest is left unread.
  /// - Returns: nil at the end of the input, on an error, and for a line that is not UTF-8.
  public func line(bytesMax: Int = 4096) -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    // Byte by byte, so that bytes after the newline are left for the next reader.
    while line.count < bytesMax {
      let count = unsafe read(descriptor, &byte, 1)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { break }
      if byte == UInt8(ascii: "\n") { return String(validating: line, as: UTF8.self) }
      line.append(byte)
    }
    return line.isEmpty ? nil : String(validating: line, as: UTF8.self)
  }

  /// Reads up to the end.
  /// - Returns: nil when there are more than `bytesMax` bytes.
  public func rest(bytesMax: Int) throws(SystemError) -> [UInt8]? {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw .last("read") }
      if count == 0 { return all }
      guard all.count + count <= bytesMax else { return nil }
      all += buffer.prefix(count)
    }
  }

  /// Opens /dev/null for each standard stream that is closed at the start. Call it before any file is opened:
  /// open(2) returns the lowest free descriptor, so a database could become standard error and be overwritten
  /// by the log (https://www.sqlite.org/howtocorrupt.html, section 1.1).
  public static func occupyAll() {
    while true {
      let descriptor = unsafe open("/dev/null", O_RDWR)
      guard descriptor >= 0, descriptor <= STDERR_FILENO else {
        if descriptor >= 0 { close(descriptor) }
        return
      }
    }
  }

  /// Makes a write to a closed pipe return an error and not end the program (signal(7), SIGPIPE).
  public static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
}

extension SystemError {
  /// Whether the reader has closed the stream.
  public var isBrokenPipe: Bool { code == EPIPE }
}

// MARK: - JournalStream

// Whether standard error is the journal's socket, which reads a priority at the beginning of a line.
// Thread-safe.

/// Detects the journal on standard error.
public enum JournalStream {
  /// Whether the device and inode in $JOURNAL_STREAM are those of standard error (systemd.exec(5)). A child
  /// process may have inherited the variable and write to another stream, so both are compared.
  public static func isStandardError(environment: Environment = .process) -> Bool {
    isStream(STDERR_FILENO, environment: environment)
  }

  static func isStream(_ descriptor: Int32, environment: Environment) -> Bool {
    let numbers = environment["JOURNAL_STREAM"]?.split(separator: ":", omittingEmptySubsequences: false)
    guard let numbers, numbers.count == 2, let device = UInt64(numbers[0]), let inode = UInt64(numbers[1])
    else { return false }
    var file = stat()
    guard unsafe fstat(descriptor, &file) == 0 else { return false }
    return UInt64(file.st_dev) == device && UInt64(file.st_ino) == inode
  }
}
