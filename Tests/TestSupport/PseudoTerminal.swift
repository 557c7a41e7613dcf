// A program on its own terminal (openpty(3)), for tests of what a user sees: progress bars, prompts, Ctrl-C.
// One thread.

public import Glibc
internal import Platform

/// A program whose standard streams are a terminal. Owns the terminal and the process.
public final class PseudoTerminal {
  /// The process id.
  public var id: pid_t { process.id }
  /// The program's output so far.
  public private(set) var text = ""
  private let terminal: Int32
  private var bytes: [UInt8] = []
  private var process: Spawn

  /// Starts a program.
  /// - Parameters:
  ///   - words: its path and its arguments.
  ///   - environment: added to what a program needs to find its libraries.
  public init(
    _ words: [String], environment: [String: String] = [:], columns: UInt16 = 100, rows: UInt16 = 30
  ) throws {
    var (main, side): (Int32, Int32) = (-1, -1)
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe openpty(&main, &side, &name, nil, &size) == 0 else { throw SystemError.last("openpty") }
    defer { close(side) }
    terminal = main
    _ = fcntl(main, F_SETFD, FD_CLOEXEC)
    _ = fcntl(main, F_SETFL, O_NONBLOCK)
    let inherited = ["PATH", "LD_LIBRARY_PATH"].reduce(into: [String: String]()) {
      $0[$1] = Environment.process[$1]
    }
    let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    do {
      // The first terminal that a session leader opens becomes its controlling terminal (tty_ioctl(4)), which
      // turns Ctrl-C into a signal.
      process = try Spawn(
        words, files: [(0, .path(path, O_RDWR)), (1, .same(0)), (2, .same(0))],
        environment: inherited.merging(environment) { $1 },
        flags: 0x80)  // POSIX_SPAWN_SETSID, a GNU macro
    } catch {
      close(main)
      throw error
    }
  }

  deinit {
    close(terminal)
  }

  /// Types keys; `
  /// ` is the Enter key.
  public func type(_ keys: String) {
    let bytes = Array(keys.utf8)
    _ = unsafe write(terminal, bytes, bytes.count)
  }

  /// Types Ctrl-C.
  public func interrupt() { type("\u{3}") }

  public func send(_ signal: Int32) { process.send(signal) }

  /// Reads the program's new output, waiting for it briefly.
  public func read() {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var waiting = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&waiting, 1, 5)
    while true {
      let count = unsafe Glibc.read(terminal, &buffer, buffer.count)
      guard count > 0 else { break }
      bytes += buffer.prefix(count)
    }
    text = String(decoding: bytes, as: UTF8.self)
  }

  /// The exit code, or 128 plus the signal; nil while the program runs.
  public var exitCode: Int32? { process.exitCode }

  /// Reads until `text` contains this.
  /// - Returns: whether it did in time.
  public func shows(_ part: String, within time: Duration = .seconds(30)) -> Bool {
    reads(within: time) { text.contains(part) }
  }

  /// Reads until the program has ended.
  /// - Returns: its exit code; nil when it did not end in time.
  public func end(within time: Duration = .seconds(30)) -> Int32? {
    _ = reads(within: time) { exitCode != nil }
    read()
    return exitCode
  }

  private func reads(within time: Duration, until condition: () -> Bool) -> Bool {
    let deadline = MonotonicInstant.now().advanced(by: time)
    while true {
      read()
      if condition() { return true }
      guard MonotonicInstant.now() < deadline else { return false }
    }
  }
}
