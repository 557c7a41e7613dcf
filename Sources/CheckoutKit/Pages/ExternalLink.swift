// What to do with a link that leads away from a checkout page. Pure; thread-safe.

public import Foundation

/// The destination of a link that leaves the checkout.
public enum ExternalLink: Sendable, Hashable, CaseIterable {
  /// `tel:`: the phone.
  case phone
  /// `mailto:`: the mail program.
  case email
  /// `http:` and `https:`: the browser.
  case browser
  /// Any other scheme: the app that registered it, if any.
  case deepLink
  /// Do not open it: the scheme runs script, reads from the device, shows browser internals, installs apps or
  /// belongs to another system, or there is no scheme.
  case refused

  /// Schemes that a page must not open. These are the schemes that the relay refuses as an app's own, except
  /// those that other apps handle: network, telephone, messages and stores.
  private static let refusedSchemes: Set<String> = [
    // Code, and documents given as text.
    "javascript", "jscript", "livescript", "ecmascript", "mocha", "vbscript", "vbs", "data", "blob", "about",
    "view-source", "filesystem", "file", "jar", "mhtml", "wyciwyg", "srcdoc",
    // Reserved by browsers and their extensions.
    "chrome", "chrome-extension", "chrome-search", "moz-extension", "safari-extension",
    "safari-web-extension", "ms-browser-extension", "resource", "edge", "opera", "devtools",
    // Android's; they have no meaning here.
    "intent", "android-app", "android.resource", "content", "market",
    // Installs apps from the manifest that any page may link to.
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
