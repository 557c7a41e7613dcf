// A headless Chromium as a child process, controlled over two pipes: JSON texts, each ended by a zero byte
// (`--remote-debugging-pipe`, https://chromedevtools.github.io/devtools-protocol/). Every wait has a
// deadline. One thread.

internal import Formats
internal import Glibc
public import Platform

/// A failure of the browser.
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

/// A running Chromium. Owns the process, its pipes and its folder, and releases all of them.
final class BrowserProcess {
  /// The path in Debian's package; nil when it is not installed.
  static var path: String? {
    ["/usr/bin/chromium", "/usr/bin/chromium-browser"].first { unsafe access($0, X_OK) == 0 }
  }

  static let patience: Duration = .seconds(30)

  private var process: Spawn
  private let toBrowser: Int32
  private let fromBrowser: Int32
  private let folder: String
  private var received: [UInt8] = []

  init(_ path: String) throws(BrowserError) {
    var template = Array("/tmp/receipt-relay-browser-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw .system(.last("mkdtemp")) }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let (input, output) = (try Self.pipe(), try Self.pipe())
    (toBrowser, fromBrowser) = (input.writing, output.reading)
    defer {
      close(input.reading)
      close(output.writing)
    }
    process = try Self.spawn(path, folder, reading: input.reading, writing: output.writing)
  }

  deinit {
    close(toBrowser)
    close(fromBrowser)
    // The whole process group, of which it is the leader.
    kill(-process.id, SIGKILL)
    process.wait()
    Self.remove(folder)
  }

  /// The two ends of a pipe; neither is inherited by other programs.
  private static func pipe() throws(BrowserError) -> (reading: Int32, writing: Int32) {
    do throws(SystemError) {
      return try Spawn.pipe()
    } catch {
      throw .system(error)
    }
  }

  private static func spawn(
    _ path: String, _ folder: String, reading: Int32, writing: Int32
  ) throws(BrowserError) -> Spawn {
    let words = [
      path, "--headless=new", "--remote-debugging-pipe", "--user-data-dir=\(folder)/profile", "--disable-gpu",
      // The sandbox needs user namespaces or a user other than root, which not every container has. The pages
      // are this project's own.
      "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run", "--no-default-browser-check",
      "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--disable-extensions", "--no-proxy-server", "--hide-scrollbars", "--force-device-scale-factor=1",
      "about:blank",
    ]
    do throws(SystemError) {
      return try Spawn(
        words,
        files: [
          (0, .nothingToRead), (1, .nowhere), (2, .path(folder + "/log", O_WRONLY | O_CREAT)),
          // Moved away first, because either may be 3 or 4 itself.
          (100, .same(reading)), (101, .same(writing)), (3, .same(100)), (4, .same(101)), (100, .closed),
          (101, .closed),
        ],
        environment: [
          "PATH": "/usr/bin:/bin", "HOME": folder, "XDG_RUNTIME_DIR": folder, "LANG": "C.UTF-8",
        ],
        flags: Int16(POSIX_SPAWN_SETPGROUP))
    } catch {
      throw .system(error)
    }
  }

  private static func remove(_ folder: String) {
    // A leftover folder in /tmp must not fail the test.
    _ = try? ShellRun(["rm", "-rf", folder])
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

  /// The next message; nil when none arrives in time.
  func receive(until deadline: MonotonicInstant) throws(BrowserError) -> JSONValue? {
    while true {
      if let end = received.firstIndex(of: 0) {
        let message = Array(received[..<end])
        received.removeFirst(end + 1)
        // Invalid JSON would be a fault of the browser: skip it.
        if let value = try? JSONValue(parsing: message) { return value }
        continue
      }
      let left = deadline.duration(since: .now())
      var entry = pollfd(fd: fromBrowser, events: Int16(POLLIN), revents: 0)
      guard left > .zero, unsafe poll(&entry, 1, Int32(clamping: left.milliseconds)) > 0 else { return nil }
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      let count = unsafe read(fromBrowser, &buffer, buffer.count)
      guard count > 0 else { throw .ended }
      received += buffer[..<count]
    }
  }
}
