// A headless Chromium as a child process, spoken to over two pipes: JSON texts, each ended by a zero byte
// (`--remote-debugging-pipe`, https://chromedevtools.github.io/devtools-protocol/). Every wait has an end.
// One thread.

internal import Glibc
internal import JSON
public import Platform

/// What went wrong with the browser.
public enum BrowserError: Error, CustomStringConvertible {
  case system(SystemError)
  case timedOut(String)
  case ended
  case refused(String)

  public var description: String {
    switch self {
    case .system(let error): "the browser: \(error)"
    case .timedOut(let what): "the browser did not answer in time: \(what)"
    case .ended: "the browser ended"
    case .refused(let why): "the browser refused: \(why)"
    }
  }
}

/// A running Chromium. Owns the process, its pipes and its folder; all go with it.
final class BrowserProcess {
  /// Where Debian's package puts it; nil when it is not installed.
  static var path: String? {
    ["/usr/bin/chromium", "/usr/bin/chromium-browser"].first { unsafe access($0, X_OK) == 0 }
  }

  static let patienceMilliseconds: Int64 = 30_000

  private let process: pid_t
  private let toBrowser: Int32
  private let fromBrowser: Int32
  private let folder: String
  private var received: [UInt8] = []

  init(_ path: String) throws(BrowserError) {
    var template = Array("/tmp/receipt-relay-browser-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw .system(.last("mkdtemp")) }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let (input, output) = (try Self.pipe(), try Self.pipe())
    (toBrowser, fromBrowser) = (input[1], output[0])
    defer {
      close(input[0])
      close(output[1])
    }
    process = try Self.spawn(path, folder, reading: input[0], writing: output[1])
  }

  deinit {
    close(toBrowser)
    close(fromBrowser)
    // All of its processes: it is the leader of their group.
    kill(-process, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
    Self.remove(folder)
  }

  /// Where to read and where to write; neither goes to other programs.
  private static func pipe() throws(BrowserError) -> [Int32] {
    var ends: [Int32] = [0, 0]
    guard unsafe Glibc.pipe(&ends) == 0 else { throw .system(.last("pipe")) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return ends
  }

  private static func spawn(
    _ path: String, _ folder: String, reading: Int32, writing: Int32
  ) throws(BrowserError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, folder + "/log", O_WRONLY | O_CREAT, 0o600)
    // First out of the way: either may be 3 or 4 itself.
    unsafe posix_spawn_file_actions_adddup2(&actions, reading, 100)
    unsafe posix_spawn_file_actions_adddup2(&actions, writing, 101)
    unsafe posix_spawn_file_actions_adddup2(&actions, 100, 3)
    unsafe posix_spawn_file_actions_adddup2(&actions, 101, 4)
    unsafe posix_spawn_file_actions_addclose(&actions, 100)
    unsafe posix_spawn_file_actions_addclose(&actions, 101)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    let words = [
      path, "--headless=new", "--remote-debugging-pipe", "--user-data-dir=\(folder)/profile", "--disable-gpu",
      // The sandbox needs user namespaces, or not to be root: neither can be had in every container. What is
      // looked at here is this project's own.
      "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run", "--no-default-browser-check",
      "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--disable-extensions", "--no-proxy-server", "--hide-scrollbars", "--force-device-scale-factor=1",
      "about:blank",
    ]
    let settings = ["PATH=/usr/bin:/bin", "HOME=\(folder)", "XDG_RUNTIME_DIR=\(folder)", "LANG=C.UTF-8"]
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    var variables = unsafe settings.map { unsafe strdup($0) } + [nil]
    defer {
      unsafe arguments.forEach { unsafe free($0) }
      unsafe variables.forEach { unsafe free($0) }
    }
    var process = pid_t()
    let failure = unsafe posix_spawn(&process, path, &actions, &attributes, &arguments, &variables)
    guard failure == 0 else { throw .system(SystemError(code: failure, operation: "posix_spawn")) }
    return process
  }

  private static func remove(_ folder: String) {
    var words = unsafe ["rm", "-rf", folder].map { (word: String) in unsafe strdup(word) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    var process = pid_t()
    guard unsafe posix_spawnp(&process, "rm", nil, nil, &words, nil) == 0 else { return }
    var status: Int32 = 0
    unsafe waitpid(process, &status, 0)
  }

  func send(_ message: JSONValue) throws(BrowserError) {
    var rest = (message.serialized() + [0])[...]
    while !rest.isEmpty {
      let sent = unsafe rest.withUnsafeBytes { unsafe write(toBrowser, $0.baseAddress, $0.count) }
      if sent < 0 && errno == EINTR { continue }
      guard sent > 0 else { throw .ended }
      rest = rest.dropFirst(sent)
    }
  }

  /// The next message; nil when none comes in time.
  func receive(until deadline: MonotonicInstant) throws(BrowserError) -> JSONValue? {
    while true {
      if let end = received.firstIndex(of: 0) {
        let message = Array(received[..<end])
        received.removeFirst(end + 1)
        // What is no JSON would be a fault of the browser.
        if let value = try? JSONValue(parsing: message) { return value }
        continue
      }
      let left = deadline.milliseconds(since: .now())
      var entry = pollfd(fd: fromBrowser, events: Int16(POLLIN), revents: 0)
      guard left > 0, unsafe poll(&entry, 1, Int32(clamping: left)) > 0 else { return nil }
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      let count = unsafe read(fromBrowser, &buffer, buffer.count)
      guard count > 0 else { throw .ended }
      received += buffer[..<count]
    }
  }
}
