// A program that gets some input and is never waited for: `step` does what is possible now, so that one
// thread can serve it beside other work. One thread.

internal import Glibc

/// A running program. `deinit` kills it.
public final class Subprocess {
  /// How a program ended.
  public enum End: Sendable, Equatable {
    case exited(code: Int32)
    /// By a signal, such as that of `kill`.
    case killed(signal: Int32)
  }

  /// The kept bytes of what a program prints; the rest is read and dropped, so that it never blocks.
  public static let outputBytesMax = 512

  /// The environment for programs: no other variable, because secrets may be among them (R7).
  public static var variables: [String: String] {
    var variables = ["PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
    for name in ["HOME", "LOGNAME", "USER"] { variables[name] = Environment.process[name] }
    return variables
  }

  private let id: pid_t
  private var input: FileDescriptor?
  private var rest: ArraySlice<UInt8>
  private let output: FileDescriptor
  private var printed: [UInt8] = []
  private var end: End?

  /// Starts a program without a shell (posix_spawn(3)). It inherits no descriptor but its three standard
  /// streams, no blocked or ignored signal, and only the given variables: others may be secrets (R7).
  /// - Parameters:
  ///   - path: the absolute path of the program.
  ///   - arguments: without the program's name.
  ///   - variables: its environment.
  ///   - input: what it can read from its standard input.
  public init(
    _ path: String, _ arguments: [String], variables: [String: String], input: [UInt8]
  ) throws(SystemError) {
    let texts = [path] + arguments + variables.flatMap { [$0.key, $0.value] }
    // C would end a text at a NUL.
    guard !texts.contains(where: { $0.utf8.contains(0) }) else {
      throw SystemError(code: EINVAL, operation: "posix_spawn")
    }
    let (toChild, fromChild) = (try Self.pipe(), try Self.pipe())
    let standardInput = try FileDescriptor(toChild.reading, of: "pipe")
    let standardOutput = try FileDescriptor(fromChild.writing, of: "pipe")
    self.input = try FileDescriptor(toChild.writing, of: "pipe")
    output = try FileDescriptor(fromChild.reading, of: "pipe")
    rest = input[...]
    try Self.stopBlocking(toChild.writing)
    try Self.stopBlocking(fromChild.reading)
    id = try Self.spawn(
      [path] + arguments, variables, standardInput: standardInput.number,
      standardOutput: standardOutput.number)
  }

  deinit {
    guard end == nil else { return }
    kill()
    // Without waiting: what is not reaped here is reaped when this process ends.
    _ = Self.end(of: id)
  }

  /// Writes what the program is ready to read, reads what it has printed, and looks whether it has ended.
  /// - Returns: nil while it runs.
  public func step() -> End? {
    if let end { return end }
    feed()
    drain()
    end = Self.end(of: id)
    // What it printed last.
    if end != nil { drain() }
    return end
  }

  /// Ends the program and the programs that it started (SIGKILL).
  public func kill() {
    guard end == nil else { return }
    _ = Glibc.kill(-id, SIGKILL)
  }

  /// The beginning of what it printed to its standard output and error, on one line.
  public var said: String {
    let text = String(decoding: printed, as: UTF8.self)
    return text.split { $0.isWhitespace || $0.isNewline }.joined(separator: " ")
  }

  private func feed() {
    guard let descriptor = input?.number else { return }
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return }
      // A program may close its input before it has read all of it; its exit code says what it means.
      guard count > 0 else { break }
      rest = rest.dropFirst(count)
    }
    rest = []
    // Closes it: the program reads to the end.
    input = nil
  }

  private func drain() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    // A program that prints without end must not keep this thread.
    for _ in 0..<64 {
      let count = unsafe read(output.number, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      printed += buffer.prefix(min(count, Self.outputBytesMax - printed.count))
    }
  }

  private static func end(of id: pid_t) -> End? {
    var status: Int32 = 0
    var found: pid_t
    repeat { found = unsafe waitpid(id, &status, WNOHANG) } while found < 0 && errno == EINTR
    guard found == id else { return nil }
    // The low seven bits are the signal, the second byte is the exit code (wait(2)).
    let signal = status & 0x7F
    return signal == 0 ? .exited(code: (status >> 8) & 0xFF) : .killed(signal: signal)
  }
}

extension Subprocess {
  private static func spawn(
    _ words: [String], _ variables: [String: String], standardInput: Int32, standardOutput: Int32
  ) throws(SystemError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, standardInput, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, standardOutput, 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, standardOutput, 2)
    // Also those that a library opened without close-on-exec. Those that are closed meanwhile are ignored.
    for descriptor in OpenDescriptors.numbers() where descriptor > 2 {
      unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
    }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var (none, all) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    // Its own process group, so that `kill` reaches what it starts.
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    var environment = unsafe variables.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
    defer {
      unsafe arguments.forEach { unsafe free($0) }
      unsafe environment.forEach { unsafe free($0) }
    }
    var id = pid_t()
    let failure = unsafe posix_spawn(&id, words[0], &actions, &attributes, &arguments, &environment)
    guard failure == 0 else { throw SystemError(code: failure, operation: "posix_spawn") }
    return id
  }

  /// Both ends of a pipe, close-on-exec; the caller owns them.
  private static func pipe() throws(SystemError) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [0, 0]
    guard unsafe Glibc.pipe(&ends) == 0 else { throw .last("pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  private static func stopBlocking(_ descriptor: Int32) throws(SystemError) {
    let flags = fcntl(descriptor, F_GETFL)
    guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else { throw .last("fcntl") }
  }
}
