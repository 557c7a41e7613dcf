// The three streams of a program: whether they are a terminal, how wide it is, and bytes in and out. Any
// thread; a write is whole or an error.

internal import Glibc

/// One of the streams that a program is started with.
public enum StandardStream: Sendable {
  case input, output, error

  private var descriptor: Int32 {
    switch self {
    case .input: STDIN_FILENO
    case .output: STDOUT_FILENO
    case .error: STDERR_FILENO
    }
  }

  /// Whether a person sits at the other end (isatty(3)).
  public var isTerminal: Bool { isatty(descriptor) == 1 }

  /// How many columns the terminal has now; nil when this is none or it does not say (TIOCGWINSZ,
  /// ioctl_tty(2)).
  public var columns: Int? { size?.columns }

  /// How large the terminal is now.
  public var size: (columns: Int, rows: Int)? {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Writes all of it.
  /// - Throws: what write(2) said; EPIPE when the reader is gone, given that SIGPIPE is ignored.
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
  /// - Parameter bytesMax: what comes after so many bytes of one line is left unread.
  /// - Returns: nil at the end of the input, on an error, and for what is not UTF-8.
  public func line(bytesMax: Int = 4096) -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    // Byte by byte, so that nothing behind the newline is taken from whoever reads on.
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
  /// - Returns: nil when there are more bytes than so many.
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

  /// Opens /dev/null in place of each standard stream that the program was started without. Call it before
  /// anything is opened: open(2) gives out the lowest free number, so a database could become standard error
  /// and be overwritten by the log (https://www.sqlite.org/howtocorrupt.html, section 1.1).
  public static func occupyAll() {
    while true {
      let descriptor = unsafe open("/dev/null", O_RDWR)
      guard descriptor >= 0, descriptor <= STDERR_FILENO else {
        if descriptor >= 0 { close(descriptor) }
        return
      }
    }
  }

  /// Makes a write to a reader that is gone an error instead of the end of the program (signal(7), SIGPIPE).
  public static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
}

extension SystemError {
  /// Whether the reader of what was written is gone.
  public var isBrokenPipe: Bool { code == EPIPE }
}
