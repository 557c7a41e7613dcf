// Log lines, as text or as JSON. A program's log uses a `LogQueue`, so that no thread waits for the reader of
// the log. The caller chooses the content of a line. It must never include a secret or a body (R7), and
// personal data only through `personal`. Thread-safe.

internal import Formats

/// The fields of a log line, in order. Fields with nil are omitted.
public struct LogFields: ExpressibleByDictionaryLiteral, Sendable {
  public let all: [(name: String, value: String)]

  public init(dictionaryLiteral elements: (String, String?)...) {
    all = elements.compactMap { name, value in value.map { (name, $0) } }
  }

  private init(all: [(name: String, value: String)]) { self.all = all }

  public static func + (left: Self, right: Self) -> Self { Self(all: left.all + right.all) }
}

/// Writes log lines of the chosen levels to a sink.
public struct Log: Sendable {
  /// The severity, highest first.
  public enum Level: String, Sendable, CaseIterable, Comparable {
    case error, warning, info, debug

    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
    private var rank: Int {
      switch self {
      case .error: 0
      case .warning: 1
      case .info: 2
      case .debug: 3
      }
    }

    /// The numbers of syslog(3).
    fileprivate var priority: Int {
      switch self {
      case .error: 3
      case .warning: 4
      case .info: 6
      case .debug: 7
      }
    }
  }

  /// The format of a line.
  public enum Format: String, Sendable, CaseIterable {
    case text, json
  }

  public var level: Level
  public var format: Format
  /// Whether personal data is written unhashed.
  public var showsPersonal: Bool
  /// Whether a line begins with its priority in the journal's format (sd-daemon(3)).
  public var marksPriority: Bool
  private let clock: any Clock
  private let sink: @Sendable ([UInt8]) -> Void
  private let queue: LogQueue?

  /// The key of the hash of personal data; different for each log.
  private let salt = UInt64.random(in: .min ... .max)

  /// A log with its own queue to standard error, or to another descriptor.
  public static func queued(
    level: Level = .info, format: Format = .text, showsPersonal: Bool = false, marksPriority: Bool = false,
    clock: any Clock = SystemClock(), descriptor: Int32 = 2, linesMax: Int = LogQueue.linesMax
  ) -> Log {
    let plain = Log(
      level: level, format: format, showsPersonal: showsPersonal, marksPriority: marksPriority, clock: clock
    ) { _ in }
    let queue = LogQueue(descriptor: descriptor, linesMax: linesMax) { count in
      plain.line(
        .warning,
        "log lines were dropped here: the reader of this log did not keep up; check that it runs",
        ["dropped": String(count)])
    }
    return Log(plain, queue: queue)
  }

  /// - Parameter sink: gets one line with its newline. Called on the thread that logs: it must not block.
  public init(
    level: Level = .info, format: Format = .text, showsPersonal: Bool = false, marksPriority: Bool = false,
    clock: any Clock = SystemClock(), sink: @escaping @Sendable ([UInt8]) -> Void
  ) {
    self.level = level
    self.format = format
    self.showsPersonal = showsPersonal
    self.marksPriority = marksPriority
    self.clock = clock
    self.sink = sink
    queue = nil
  }

  private init(_ other: Log, queue: LogQueue) {
    level = other.level
    format = other.format
    showsPersonal = other.showsPersonal
    marksPriority = other.marksPriority
    clock = other.clock
    sink = { queue.append($0) }
    self.queue = queue
  }

  /// Lines dropped since the start because the queue was full.
  public var droppedLines: UInt64 { queue?.droppedLines ?? 0 }

  /// Waits until all queued lines are written, at most for this time. For the end of the process.
  public func flush(within time: Duration) {
    queue?.flush(within: time)
  }

  // The autoclosures are evaluated only if the line is written.

  public func error(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
    if level >= .error { put(.error, message(), fields()) }
  }
  public func warning(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
    if level >= .warning { put(.warning, message(), fields()) }
  }
  public func info(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
    if level >= .info { put(.info, message(), fields()) }
  }
  public func debug(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
    if level >= .debug { put(.debug, message(), fields()) }
  }

  /// Personal data (a user's id, an address) for a field: unchanged if the operator configured that, else `~`
  /// and six hex digits, the same for the same value within one run. The digits are a keyed hash (SipHash)
  /// with a random key that is never stored, so they cannot be reversed.
  public func personal(_ value: String) -> String {
    guard !showsPersonal else { return value }
    var hasher = Hasher()
    hasher.combine(salt)
    hasher.combine(value)
    let digits = String(UInt(bitPattern: hasher.finalize()) & 0xFF_FFFF, radix: 16)
    return "~" + String(repeating: "0", count: 6 - digits.utf8.count) + digits
  }

  private func put(_ level: Level, _ message: String, _ fields: LogFields) {
    sink(line(level, message, fields))
  }

  private func line(_ level: Level, _ message: String, _ fields: LogFields) -> [UInt8] {
    let time = Self.timestamp(clock.wallMilliseconds)
    var line: [UInt8]
    switch format {
    case .json:
      var members: [JSONValue.Member] = [
        .init(name: "time", value: .string(time)), .init(name: "level", value: .string(level.rawValue)),
        .init(name: "message", value: .string(message)),
      ]
      members += fields.all.map { JSONValue.Member(name: $0.name, value: .string($0.value)) }
      line = JSONValue.object(members).serialized()
    case .text:
      let tail = fields.all.map { " \($0.name)=\(Self.quoted($0.value))" }.joined()
      line = Array("\(time) \(level.rawValue) \(Self.singleLine(message))\(tail)".utf8)
    }
    line.append(UInt8(ascii: "\n"))
    return marksPriority ? Array("<\(level.priority)>".utf8) + line : line
  }

  /// The rule of logfmt: a value with a space, a quote, an equals sign or a control character is quoted.
  private static func quoted(_ value: String) -> String {
    let plain = value.utf8.allSatisfy {
      $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=")
    }
    return plain && !value.isEmpty ? value : JSONValue.string(value).text
  }

  /// Untrusted input must not start a new line.
  private static func singleLine(_ message: String) -> String {
    message.utf8.contains { $0 < 0x20 } ? JSONValue.string(message).text : message
  }

  /// Unix milliseconds as RFC 3339 in UTC, with milliseconds.
  public static func timestamp(_ milliseconds: Int64) -> String {
    RFC3339.string(unixMilliseconds: milliseconds)
  }
}
