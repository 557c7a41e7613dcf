// The customer's operating system, as far as `User-Agent` shows it. Pure; called from any thread.

/// The kind of the customer's device.
enum ReturnDevice: Sendable, CaseIterable {
  case iOS, android
  /// A desktop, or an iPad that identifies itself as one.
  case other

  /// - Parameter userAgent: the header's value; it permits only a guess (RFC 9110 §10.1.5).
  init(userAgent: String?) {
    let text = userAgent ?? ""
    if text.contains("Android") {
      self = .android
    } else if text.contains("iPhone") || text.contains("iPad") || text.contains("iPod") {
      self = .iOS
    } else {
      self = .other
    }
  }
}
