// Log lines on stderr, as text or as JSON. A line is one write(2), so lines of several threads do not mix.
// What a line says is chosen by its caller; no secret and no body ever comes here (R7). Any thread.

internal import Glibc
internal import JSON

/// Where log lines go, and which.
public struct Log: Sendable {
  /// How much it matters, most first.
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
  }

  /// How a line is written.
  public enum Format: String, Sendable, CaseIterable {
    case text, json
  }

  public var level: Level
  public var format: Format
  private let clock: any Clock
  private let sink: @Sendable ([UInt8]) -> Void

  /// - Parameter sink: takes one line with its newline; stderr when not given.
  public init(
    level: Level = .info, format: Format = .text, clock: any Clock = SystemClock(),
    sink: @escaping @Sendable ([UInt8]) -> Void = Log.writeToStandardError
  ) {
    self.level = level
    self.format = format
    self.clock = clock
    self.sink = sink
  }

  public func error(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
    log(.error, message, fields)
  }
  public func warning(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
    log(.warning, message, fields)
  }
  public func info(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
    log(.info, message, fields)
  }
  /// Neither text nor fields are made unless the line is written.
  public func debug(
    _ message: @autoclosure () -> String, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
  ) {
    guard level >= .debug else { return }
    log(.debug, message(), fields())
  }

  private func log(_ level: Level, _ message: String, _ fields: KeyValuePairs<String, String>) {
    guard self.level >= level else { return }
    let time = Self.timestamp(clock.wallMilliseconds)
    var line: [UInt8]
    switch format {
    case .json:
      var members: [JSONValue.Member] = [
        .init(name: "time", value: .string(time)), .init(name: "level", value: .string(level.rawValue)),
        .init(name: "message", value: .string(message)),
      ]
      members += fields.map { JSONValue.Member(name: $0.key, value: .string($0.value)) }
      line = JSONValue.object(members).serialized()
    case .text:
      let tail = fields.map { " \($0.key)=\(Self.quoted($0.value))" }.joined()
      line = Array("\(time) \(level.rawValue) \(Self.singleLine(message))\(tail)".utf8)
    }
    line.append(UInt8(ascii: "\n"))
    sink(line)
  }

  /// logfmt's rule: a value with a space, a quote, an equals sign or a control character is quoted.
  private static func quoted(_ value: String) -> String {
    let plain = value.utf8.allSatisfy {
      $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=")
    }
    return plain && !value.isEmpty ? value : JSONValue.string(value).text
  }

  /// Text from outside must not start a line of its own.
  private static func singleLine(_ message: String) -> String {
    message.utf8.contains { $0 < 0x20 } ? JSONValue.string(message).text : message
  }

  /// Unix milliseconds as RFC 3339 in UTC, with milliseconds.
  public static func timestamp(_ milliseconds: Int64) -> String {
    RFC3339.string(unixMilliseconds: milliseconds)
  }

  /// Writes all of `line` to stderr; a log that cannot be written is no reason to stop the relay.
  public static func writeToStandardError(_ line: [UInt8]) {
    var rest = line[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
      if written < 0 && errno == EINTR { continue }
      guard written > 0 else { return }
      rest = rest.dropFirst(written)
    }
  }
}
