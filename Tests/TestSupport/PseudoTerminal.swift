// A program on a terminal of its own (openpty(3)), so that tests see what a person would: progress bars,
// questions, what Ctrl-C does. One thread.

public import Glibc
internal import Platform

/// A program whose standard streams are a terminal. Owns the terminal and the process: what still runs when
/// the value goes is killed and reaped.
public final class PseudoTerminal {
  /// The process.
  public let id: pid_t
  /// Everything that the program has written so far.
  public private(set) var text = ""
  private let terminal: Int32
  private var bytes: [UInt8] = []
  private var code: Int32?

  /// Starts a program.
  /// - Parameters:
  ///   - words: its path and its arguments.
  ///   - environment: beside what a program needs to find its libraries.
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
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    // The first terminal that the head of a new session opens is its controlling one (tty_ioctl(4)), from
    // which Ctrl-C comes as a signal.
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    unsafe posix_spawnattr_setflags(&attributes, 0x80)  // POSIX_SPAWN_SETSID, which is a macro of GNU's
    unsafe posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
    for stream in Int32(1)...2 { unsafe posix_spawn_file_actions_adddup2(&actions, 0, stream) }
    Self.keepFilesToThisProcess()
    let inherited = ["PATH", "LD_LIBRARY_PATH"].reduce(into: [String: String]()) {
      $0[$1] = Environment.process[$1]
    }
    let settings = inherited.merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    var variables = unsafe settings.map { unsafe strdup($0) } + [nil]
    defer {
      unsafe arguments.forEach { unsafe free($0) }
      unsafe variables.forEach { unsafe free($0) }
    }
    var process = pid_t()
    let failure = unsafe posix_spawnp(
      &process, words[0], &actions, &attributes, &arguments, &variables)
    guard failure == 0 else {
      close(main)
      throw SystemError(code: failure, operation: "posix_spawnp")
    }
    id = process
  }

  deinit {
    if exitCode == nil {
      kill(id, SIGKILL)
      var status: Int32 = 0
      while unsafe waitpid(id, &status, 0) < 0 && errno == EINTR {}
    }
    close(terminal)
  }

  /// Sockets of tests that run beside this one must not stay open in the program.
  private static func keepFilesToThisProcess() {
    guard let directory = unsafe opendir("/proc/self/fd") else { return }
    defer { unsafe closedir(directory) }
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      if let file = Int32(String(decoding: name, as: UTF8.self)), file > 2 {
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
      }
    }
  }

  /// Types something; a line ends with `\n`.
  public func type(_ keys: String) {
    let bytes = Array(keys.utf8)
    _ = unsafe write(terminal, bytes, bytes.count)
  }

  /// Types Ctrl-C.
  public func interrupt() { type("\u{3}") }

  public func send(_ signal: Int32) { kill(id, signal) }

  /// Takes in what the program has written meanwhile, waiting for it a moment.
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

  /// How it ended: the exit code, or 128 and the signal; nil while it runs.
  public var exitCode: Int32? {
    if let code { return code }
    var status: Int32 = 0
    guard unsafe waitpid(id, &status, WNOHANG) == id else { return nil }
    code = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
    return code
  }

  /// Reads until `text` holds this.
  /// - Returns: whether it did in time.
  public func shows(_ part: String, within milliseconds: Int64 = 30_000) -> Bool {
    reads(within: milliseconds) { text.contains(part) }
  }

  /// Reads until the program has ended.
  /// - Returns: how it did; nil when it did not in time.
  public func end(within milliseconds: Int64 = 30_000) -> Int32? {
    _ = reads(within: milliseconds) { exitCode != nil }
    read()
    return exitCode
  }

  private func reads(within milliseconds: Int64, until condition: () -> Bool) -> Bool {
    let deadline = MonotonicInstant.now().advanced(byMilliseconds: milliseconds)
    while true {
      read()
      if condition() { return true }
      guard MonotonicInstant.now() < deadline else { return false }
    }
  }
}
