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
  /// Nowhere: a scheme that runs script, reads what is on the device, shows the inside of a browser, installs
  /// apps or is another system's, or no scheme at all.
  case refused

  /// Schemes that no page may make an app open: what the relay takes for no app's own, but for the network's,
  /// the telephone's, messages' and the shops', which other apps answer.
  private static let refusedSchemes: Set<String> = [
    // Code, and documents made of text.
    "javascript", "jscript", "livescript", "ecmascript", "mocha", "vbscript", "vbs", "data", "blob", "about",
    "view-source", "filesystem", "file", "jar", "mhtml", "wyciwyg", "srcdoc",
    // What a browser keeps for itself and its extensions.
    "chrome", "chrome-extension", "chrome-search", "moz-extension", "safari-extension",
    "safari-web-extension", "ms-browser-extension", "resource", "edge", "opera", "devtools",
    // Android's, which mean nothing here.
    "intent", "android-app", "android.resource", "content", "market",
    // Installs apps from any page that has a list of them.
    "itms-services",
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
