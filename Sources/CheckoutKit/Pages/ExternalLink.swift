// What to do with a link on a checkout page that leads away from it. Pure; any thread.

public import Foundation

/// Where a link that leaves the checkout belongs.
public enum ExternalLink: Sendable, Hashable, CaseIterable {
  /// `tel:`: the phone.
  case phone
  /// `mailto:`: the mail program.
  case email
  /// `http:` and `https:`: the browser.
  case browser
  /// Any other scheme: the app that has it, if one does.
  case deepLink
  /// Nowhere: a scheme that runs script, reads what is on the device or shows the inside of a browser, or no
  /// scheme at all.
  case refused

  /// Schemes that no page may make an app open. Those of Android mean nothing here.
  private static let refusedSchemes: Set<String> = [
    "javascript", "vbscript", "data", "file", "blob", "about", "view-source", "filesystem", "content",
    "intent",
    "android-app", "chrome",
  ]

  /// Classifies a URL by its scheme, in any case.
  public init(_ url: URL) {
    switch URLParts(url).comparableScheme {
    case nil: self = .refused
    case "tel": self = .phone
    case "mailto": self = .email
    case "http", "https": self = .browser
    case let scheme?: self = Self.refusedSchemes.contains(scheme) ? .refused : .deepLink
    }
  }
}
