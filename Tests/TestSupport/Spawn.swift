// Starts the programs of the tests: posix_spawn(3). Foundation's `Process` is not used: on Linux it reads
// past a buffer while it looks for open files, which Address Sanitizer reports. One thread per process.

public import Glibc
public import Platform

/// A child process. Owns it: deinit kills and reaps it, unless it has ended.
public struct Spawn: ~Copyable {
  /// The process id.
  public let id: pid_t
  private var code: Int32?

  /// The target of a descriptor in the new program.
  public enum File: Sendable {
    /// This path, opened as open(2) does with these flags; only the owner can read a new file.
    case path(String, Int32)
    /// The same as this descriptor of the parent, or as an earlier one of the list.
    case same(Int32)
    case closed

    public static let nothingToRead = File.path("/dev/null", O_RDONLY)
    public static let nowhere = File.path("/dev/null", O_WRONLY)
  }

  /// Starts a program.
  /// - Parameters:
  ///   - words: its path, or a name in PATH, and its arguments.
  ///   - files: its descriptors, created in this order. Of the others it inherits only the standard streams.
  ///   - environment: nil for that of this process.
  ///   - flags: of posix_spawnattr_setflags(3).
  public init(
    _ words: [String], files: [(descriptor: Int32, file: File)], environment: [String: String]? = nil,
    flags: Int16 = 0
  ) throws(SystemError) {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (descriptor, file) in files {
      switch file {
      case .path(let path, let flags):
        unsafe posix_spawn_file_actions_addopen(&actions, descriptor, path, flags, 0o600)
      case .same(let other): unsafe posix_spawn_file_actions_adddup2(&actions, other, descriptor)
      case .closed: unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
      }
    }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    unsafe posix_spawnattr_setflags(&attributes, flags)
    Self.keepFilesToThisProcess()
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    var variables = unsafe (environment ?? [:]).map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
    defer {
      unsafe arguments.forEach { unsafe free($0) }
      unsafe variables.forEach { unsafe free($0) }
    }
    var process = pid_t()
    let failure =
      environment == nil
      ? unsafe posix_spawnp(&process, words[0], &actions, &attributes, &arguments, environ)
      : unsafe posix_spawnp(&process, words[0], &actions, &attributes, &arguments, &variables)
    guard failure == 0 else { throw SystemError(code: failure, operation: "posix_spawnp") }
    id = process
  }

  deinit {
    guard code == nil else { return }
    kill(id, SIGKILL)
    _ = Self.wait(for: id, 0)
  }

  public func send(_ signal: Int32) { kill(id, signal) }

  /// The exit code, or 128 plus the signal that ended it; nil while it runs.
  public var exitCode: Int32? {
    mutating get {
      code = code ?? Self.wait(for: id, WNOHANG)
      return code
    }
  }

  /// Waits for the end, however long it takes.
  /// - Returns: the exit code, or 128 plus the signal that ended it.
  @discardableResult public mutating func wait() -> Int32 {
    let ended = code ?? Self.wait(for: id, 0) ?? -1
    code = ended
    return ended
  }

  private static func wait(for id: pid_t, _ options: Int32) -> Int32? {
    var status: Int32 = 0
    var found: pid_t
    repeat { found = unsafe waitpid(id, &status, options) } while found < 0 && errno == EINTR
    return found == id ? code(of: status) : nil
  }

  /// A pipe with both ends close-on-exec; a program gets an end only from `start`.
  public static func pipe() throws(SystemError) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [0, 0]
    guard unsafe Glibc.pipe(&ends) == 0 else { throw .last("pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// The low byte is the signal, the second byte the exit code (wait(2)).
  private static func code(of status: Int32) -> Int32 {
    status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }

  /// The program must not inherit the sockets and files of tests that run at the same time.
  private static func keepFilesToThisProcess() {
    for file in OpenDescriptors.numbers() where file > 2 { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
  }
}
