// An answer as bytes, for the one case in which libmicrohttpd cannot send it: in the middle of a body. Pure
// except for the date.

internal import CMicroHTTPD
internal import Glibc

/// HTTP/1.1 responses that close the connection (RFC 9112 §4).
enum RawAnswer {
  /// - Parameter isHead: whether the request's method is HEAD, whose answers have no body.
  static func bytes(_ response: Response, isHead: Bool) -> [UInt8] {
    let status = response.sendableStatus
    var head = "HTTP/1.1 \(status) \(reason(status))\r\nConnection: close\r\n"
    if let date = date() { head += "Date: \(date)\r\n" }
    for (name, value) in response.headers where Response.fault(name: name, value: value) == nil {
      head += "\(name): \(value)\r\n"
    }
    head += "Content-Length: \(response.body.count)\r\n\r\n"
    return Array(head.utf8) + (isHead ? [] : response.body)
  }

  private static func reason(_ status: Int) -> String {
    unsafe MHD_get_reason_phrase_for(UInt32(status)).flatMap { unsafe String(validatingCString: $0) }
      ?? "Unknown"
  }

  /// The current time as IMF-fixdate (RFC 9110 §5.6.7). Not strftime(3), which depends on the locale.
  private static func date() -> String? {
    var now = time(nil)
    var parts = unsafe tm()
    guard unsafe gmtime_r(&now, &parts) != nil else { return nil }
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    guard let day = unsafe days.at(Int(parts.tm_wday)), let month = unsafe months.at(Int(parts.tm_mon)) else {
      return nil
    }
    let clock = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits).joined(separator: ":")
    return unsafe "\(day), \(twoDigits(parts.tm_mday)) \(month) \(Int(parts.tm_year) + 1900) \(clock) GMT"
  }

  private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension Array {
  fileprivate func at(_ index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
