// Reads a failed response's headers and body. Pure; thread-safe.

internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension HTTPFailure {
  /// - Parameter now: the time to which a date in `Retry-After` is relative.
  init(_ response: HTTPURLResponse, _ body: Data, now: Date) {
    let type = response.value(forHTTPHeaderField: "Content-Type").map { LinkText.lowercased($0) }
    let isProblem = type?.hasPrefix("application/problem+json") == true
    self.init(
      status: response.statusCode, body: OperatorText(String(decoding: body, as: UTF8.self)),
      // An unreadable problem document is still available as the body.
      problem: isProblem ? try? JSONDecoder().decode(Problem.self, from: body) : nil,
      retryAfter: response.value(forHTTPHeaderField: "Retry-After").flatMap {
        Self.retryAfter($0, now: now)
      })
  }

  /// Seconds, or a date (RFC 9110 §10.2.3); at most a day. An invalid value counts as absent.
  static func retryAfter(_ value: String, now: Date) -> TimeInterval? {
    let text = value.trimmingCharacters(in: .whitespaces)
    if !text.isEmpty, text.utf8.allSatisfy(LinkText.isDigit) {
      return min(TimeInterval(text) ?? 86_400, 86_400)
    }
    return date(text).map { min(max(0, $0.timeIntervalSince(now)), 86_400) }
  }

  /// A date in the form that servers send (RFC 9110 §5.6.7); nil for other texts.
  static func date(_ text: String) -> Date? {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return format.date(from: text)
  }
}
