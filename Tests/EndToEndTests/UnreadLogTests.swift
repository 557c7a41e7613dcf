// A log whose reader has stopped: the reader of standard error must not be able to stop the relay.

import Formats
import Glibc
import Platform
import TestSupport
import Testing

@Suite struct UnreadLogTests {
  /// A named pipe of one page. Owns its descriptor, which keeps both ends open.
  private final class Fifo {
    let path: String
    private let descriptor: Int32
    /// The line whose end was not read yet.
    private var unfinished: Substring = ""

    init(_ path: String) throws {
      self.path = path
      guard unsafe mkfifo(path, 0o600) == 0 else { throw SystemError.last("mkfifo") }
      descriptor = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
      guard descriptor >= 0 else { throw SystemError.last("open") }
      // F_SETPIPE_SZ (fcntl(2)).
      guard fcntl(descriptor, 1031, 4096) >= 0 else { throw SystemError.last("fcntl") }
    }

    deinit { close(descriptor) }

    /// Reads until a line contains this. Reading goes on after that line.
    func readLine(with words: String) throws -> String {
      try waitFor("the log says \(words)") {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, 1000) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return nil }
        var lines = (unfinished + String(decoding: buffer[..<count], as: UTF8.self))
          .split(separator: "\n", omittingEmptySubsequences: false)
        unfinished = lines.popLast() ?? ""
        return lines.first { $0.contains(words) }.map(String.init)
      }
    }
  }

  private static func number(_ name: String, in line: String) -> UInt16? {
    line.split(separator: " ").first { $0.hasPrefix("\(name)=") }.flatMap {
      UInt16($0.dropFirst(name.count + 1))
    }
  }

  /// Produces one log line for each request.
  private static func ask(_ port: UInt16, times: Int) throws {
    let wire = try Wire(port)
    for _ in 0..<times {
      try wire.send("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try wire.reply().status == 404)
    }
  }

  private static func dropped(_ admin: Endpoint) throws -> Int {
    let name = "receiptd_log_lines_dropped_total "
    return try admin.request("GET", "/metrics").text.split(separator: "\n").first { $0.hasPrefix(name) }
      .flatMap { Int($0.dropFirst(name.utf8.count)) } ?? -1
  }

  @Test func `With a full log pipe webhooks are answered and SIGTERM ends the process`() throws {
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try Relay(destination, top: ["log": ["level": "debug"]])
    try relay.writeConfiguration()
    let log = try Fifo(relay.directory.file("log.fifo"))
    let process = try ChildProcess([Program.receiptd, "--config", relay.configurationPath], output: log.path)
    let ready = try log.readLine(with: " info ready ")
    let port = try #require(Self.number("listen", in: ready))
    let admin = Endpoint(port: try #require(Self.number("admin", in: ready)))
    // From here on the log is not read, and more is logged than the pipe and the queue hold.
    let outside = Outside(api: Endpoint(port: port))
    try Self.ask(port, times: LogQueue.linesMax + 1000)
    for number in 0..<12 {
      #expect(try outside.send(Checkout("unread-\(number)").completed).status == 200)
    }
    let dropped = try Self.dropped(admin)
    #expect(dropped > 0)
    // The reader comes back: the next line reports the dropped ones.
    let notice = try log.readLine(with: "log lines were dropped")
    #expect(notice.contains(" dropped="))
    try Self.ask(port, times: 50)
    // It stops again: the daemon's exit does not depend on it.
    try Self.ask(port, times: 200)
    process.send(SIGTERM)
    #expect(try process.end(within: .seconds(20)) == 0)
  }
}
