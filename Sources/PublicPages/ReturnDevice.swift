// Which of an app's systems somebody reads a page on, as far as the browser says so. Pure; any thread.

/// What a person holds in their hands.
enum ReturnDevice: Sendable, CaseIterable {
  case iOS, android
  /// A desktop, or an iPad that passes for one.
  case other

  /// - Parameter userAgent: as it came; a guess is all that can be made of it (RFC 9110 §10.1.5).
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
