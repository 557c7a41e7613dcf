// An app's configuration of the way to the checkout and back. Pure; any thread.

public import Domain
public import Formats

extension AppConfiguration {
  /// Where customers pay, and how they return to the app.
  public struct Links: Sendable, Equatable {
    /// The base of every absolute URL.
    public var origin: WebOrigin
    public var ios: IOS?
    public var android: Android?
    /// The file that proves to Apple whose host the origin's is; nil: it has none.
    public var applePay: DomainFile?
    /// The checkout page of each price that a context may name.
    public var checkout: [PriceID: CheckoutPage]
    public var returnPage: ReturnPage?
    /// Nil: the Swedbank helpers are disabled.
    public var swedbank: Swedbank?

    public init(
      origin: WebOrigin, ios: IOS? = nil, android: Android? = nil, checkout: [PriceID: CheckoutPage] = [:],
      returnPage: ReturnPage? = nil, swedbank: Swedbank? = nil
    ) {
      self.origin = origin
      self.ios = ios
      self.android = android
      self.checkout = checkout
      self.returnPage = returnPage
      self.swedbank = swedbank
    }
  }
}

extension AppConfiguration.Links {
  /// A file that the relay serves as it is.
  public struct DomainFile: Sendable, Equatable {
    public var path: String
    /// As it was at the start or at the reload; empty in a program that may not read it and does not need it.
    public var content: [UInt8]

    public init(path: String, content: [UInt8]) {
      self.path = path
      self.content = content
    }
  }

  /// The app on Apple's systems.
  public struct IOS: Sendable, Equatable {
    /// At least one.
    public var appIDs: [AppleAppID]
    /// The scheme that the app registered: the second way back into the app.
    public var scheme: CustomScheme?
    /// Patterns of paths that open the app, and `NOT ` patterns that do not.
    public var paths: [LinkPath]
    /// Whether the app may use the passwords saved for the host.
    public var webcredentials: Bool

    public init(
      appIDs: [AppleAppID], scheme: CustomScheme? = nil, paths: [LinkPath] = [], webcredentials: Bool = false
    ) {
      self.appIDs = appIDs
      self.scheme = scheme
      self.paths = paths
      self.webcredentials = webcredentials
    }
  }

  /// The app on Android.
  public struct Android: Sendable, Equatable {
    /// One package of the app, and who may sign it.
    public struct Package: Sendable, Equatable {
      public var name: PackageName
      /// Fingerprints of the certificates that may sign the app; at least one.
      public var fingerprints: [CertificateFingerprint]

      public init(name: PackageName, fingerprints: [CertificateFingerprint]) {
        self.name = name
        self.fingerprints = fingerprints
      }
    }

    /// At least one. The return page's button opens the first, and those after it where it is not installed.
    public var packages: [Package]
    /// The scheme that the app registered: the second way back into the app.
    public var scheme: CustomScheme?
    /// Whether the app may use the passwords saved for the host.
    public var getsLoginCredentials: Bool

    public init(packages: [Package], scheme: CustomScheme? = nil, getsLoginCredentials: Bool = false) {
      self.packages = packages
      self.scheme = scheme
      self.getsLoginCredentials = getsLoginCredentials
    }
  }

  /// What the return page says about the app.
  public struct ReturnPage: Sendable, Equatable {
    /// The app's display name.
    public var name: String
    /// https URLs of the app's store pages.
    public var iosStore: String?
    public var androidStore: String?
    public var support: Support?
    public var logo: Logo?
    /// The colours of links and the button, in light and in dark mode.
    public var accentLight: PageColor?
    public var accentDark: PageColor?

    public init(
      name: String, iosStore: String? = nil, androidStore: String? = nil, support: Support? = nil,
      logo: Logo? = nil, accentLight: PageColor? = nil, accentDark: PageColor? = nil
    ) {
      self.name = name
      self.iosStore = iosStore
      self.androidStore = androidStore
      self.support = support
      self.logo = logo
      self.accentLight = accentLight
      self.accentDark = accentDark
    }
  }

  /// Swedbank Pay's payment URL helpers.
  public struct Swedbank: Sendable, Equatable {
    /// The HTTP status of redirects.
    public enum Redirect: Int, Sendable {
      case permanent = 301
      case found = 302
    }

    /// The schemes that a link may open; nil allows every scheme that an app may own.
    public var schemes: [CustomScheme]?
    /// The packages that a link may open; nil allows all.
    public var packages: [PackageName]?
    /// The page on another host from which a universal link opens the app.
    public var trampoline: String
    public var redirect: Redirect

    /// Swedbank Pay's own page, which its sample merchant backend uses.
    public static let defaultTrampoline = "https://ecom.payex.com/externalresourcehost/trampoline"

    public init(
      schemes: [CustomScheme]? = nil, packages: [PackageName]? = nil, trampoline: String = defaultTrampoline,
      redirect: Redirect = .permanent
    ) {
      self.schemes = schemes
      self.packages = packages
      self.trampoline = trampoline
      self.redirect = redirect
    }
  }
}
