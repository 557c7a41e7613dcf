// The customer's operating system, as far as `User-Agent` shows it. Pure; called from any thread.

/// The kind of the customer's device.
enum ReturnDevice: Sendable, CaseIterable {
  case iOS, android
  /// A computer that opens no app of a phone.
  case computer
  /// Probably a computer. It may also be an iPad, whose Safari says that it is a Mac, or a phone that
  /// requests pages for computers and says that it runs Linux: the stylesheet decides by the pointer.
  case other

  /// - Parameter userAgent: the header's value; it permits only a guess (RFC 9110 §10.1.5).
  init(userAgent: String?) {
    let text = userAgent ?? ""
    if text.contains("Android") {
      self = .android
    } else if text.contains("iPhone") || text.contains("iPad") || text.contains("iPod") {
      self = .iOS
    } else if text.contains("Windows NT") {
      self = .computer
    } else {
      self = .other
    }
  }
}
