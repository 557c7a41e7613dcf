// An app's configuration of the way to the checkout and back. Keys are read as by ConfigurationReader: one
// thread, every fault.

public import Domain
public import Formats
internal import Platform

private let packagePattern = "^[A-Za-z][A-Za-z0-9_]*(\\.[A-Za-z][A-Za-z0-9_]*)+$"
// The same for Apple's systems and for Android.
private let schemeText = "The URL scheme that the app has registered, for the second way back."
private let passwordsText = "Whether the app may use the passwords that are saved for the origin's host."

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
    public var checkout: [PriceID: CheckoutPage] = [:]
    public var returnPage: ReturnPage?
    /// Nil: the Swedbank helpers are disabled.
    public var swedbank: Swedbank?

    static let section = ConfigurationSection(
      Self(origin: .placeholder),
      [
        .required(
          "origin", \.origin, .origin,
          example: "https://pay.example.com",
          advice: "write the relay's public address, such as \"https://pay.example.com\"",
          "The public origin of the relay. All absolute URLs begin with it."),
        .optional(
          "ios", \.ios, .section(IOS.section),
          "The app on Apple's systems: what apple-app-site-association says."),
        .optional(
          "android", \.android, .section(Android.section), "The app on Android: what assetlinks.json says."),
        .optional(
          "apple_pay_file", \.applePay, .domainFile,
          example: "/etc/receiptd/apple-developer-merchantid-domain-association",
          "The file with which Apple verifies the origin's host for Apple Pay on the web, served below "
            + "/.well-known/."),
        .key(
          "checkout", \.checkout, .checkoutPages, example: ["price_123": "https://buy.stripe.com/test_123"],
          "The checkout page of each price, to which POST /v1/NAME/checkout leads."),
        .optional(
          "return", \.returnPage, .section(ReturnPage.section),
          "The page to which customers return: GET /v1/NAME/return?context_id=…"),
        .optional(
          "swedbank", \.swedbank, .section(Swedbank.section), "Swedbank Pay's payment URL helpers."
        ).then { links, reader, _ in links.warnOfTrampoline(reader) },
      ])

    private func warnOfTrampoline(_ reader: ObjectReader) {
      guard let swedbank, swedbank.trampoline.lowercased().hasPrefix("\(origin.text)/") else { return }
      reader.collector.warning(
        "\(reader.path(of: "swedbank")).trampoline",
        "is on the host of links.origin, from which iOS does not open the app; use another name of this relay"
      )
    }
  }
}

extension AppConfiguration.Links {
  /// A file that the relay serves as it is.
  public struct DomainFile: Sendable, Equatable {
    public var path: String
    /// As it was at the start or at the reload; empty in a program that may not read it and does not need it.
    public var content: [UInt8]
  }

  /// The app on Apple's systems.
  public struct IOS: Sendable, Equatable {
    /// At least one.
    public var appIDs: [AppleAppID]
    /// The scheme that the app registered: the second way back into the app.
    public var scheme: CustomScheme?
    /// Patterns of paths that open the app, and `NOT ` patterns that do not.
    public var paths: [LinkPath] = []
    /// Whether the app may use the passwords saved for the host.
    public var webcredentials = false

    static let section = ConfigurationSection(
      Self(appIDs: []),
      [
        .required(
          "app_ids", \.appIDs,
          .set(
            of: .name("an app id", pattern: "^[A-Z0-9]{10}\\.", show: \.text, AppleAppID.init),
            count: 1...100,
            "app ids"),
          example: ["ABCDE12345.com.example.app"],
          advice: "write the ids of the app: [\"ABCDE12345.com.example.app\"]",
          "The ids of the app: the prefix, a dot, and the bundle id."),
        .optional("scheme", \.scheme, .customScheme, example: "exampleapp", schemeText),
        .key(
          "paths", \.paths,
          .set(
            of: .name("a path", pattern: "^(NOT +)?/", show: \.text, LinkPath.init),
            count: 0...500, "paths"),
          example: ["NOT /admin/*", "/*"],
          "The patterns of paths that open the app, and \"NOT …\" for those that do not."),
        .key("webcredentials", \.webcredentials, .flag, passwordsText),
      ])
  }

  /// The app on Android.
  public struct Android: Sendable, Equatable {
    /// One package of the app, and who may sign it.
    public struct Package: Sendable, Equatable {
      public var name: PackageName
      /// Fingerprints of the certificates that may sign the app; at least one.
      public var fingerprints: [CertificateFingerprint]

      /// Of the certificate in the documentation of Digital Asset Links.
      private static let exampleFingerprint =
        "14:6D:E9:83:C5:73:06:50:D8:EE:B9:95:2F:34:FC:64:16:A0:83:42:E6:1D:BE:A8:8A:04:96:B2:3F:CF:44:E5"

      static let section = ConfigurationSection(
        Self(name: .placeholder, fingerprints: []),
        [
          .required(
            "name", \.name,
            .name(
              "a package name", mustBe: "the name of a package", pattern: packagePattern, show: \.text,
              PackageName.init),
            example: "com.example.app", advice: "write the app's package, such as \"com.example.app\"",
            "The application id."),
          .required(
            "sha256_cert_fingerprints", \.fingerprints,
            .set(
              of: .name(
                "a fingerprint", pattern: "^[0-9A-Fa-f: \\t]+$", show: \.text, CertificateFingerprint.init),
              count: 1...50, "fingerprints"),
            example: [.string(exampleFingerprint)],
            advice: "write the SHA-256 of the certificates that the app is signed with (keytool -list -v)",
            "The SHA-256 fingerprints of the certificates that sign the app."),
        ])
    }

    /// At least one. The return page's button opens the first, and those after it where it is not installed.
    public var packages: [Package]
    /// The scheme that the app registered: the second way back into the app.
    public var scheme: CustomScheme?
    /// Whether the app may use the passwords saved for the host.
    public var getsLoginCredentials = false

    static let section = ConfigurationSection(
      Self(packages: []),
      [
        .required(
          "packages", \.packages,
          .list(of: .section(Package.section), count: 1...100, "packages"),
          advice: "write the app's packages: [{ name: \"com.example.app\", sha256_cert_fingerprints: "
            + "[\"AA:BB:…\"] }]",
          "The packages of the app, such as one for each flavour. The button of the return page opens the "
            + "first, and the next one where it is not installed."
        ).then { android, reader, _ in
          let packages = android.packages
          for (index, package) in packages.enumerated()
          where packages[..<index].contains(where: { $0.name == package.name }) {
            reader.collector.fault(
              "\(reader.path(of: "packages"))[\(index)].name",
              "is in the list already; put all fingerprints there")
          }
        },
        .optional("scheme", \.scheme, .customScheme, example: "exampleapp", schemeText),
        .key("get_login_creds", \.getsLoginCredentials, .flag, passwordsText),
      ])
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

    /// Without a name, the page has the app's slug.
    static let section = ConfigurationSection(
      Self(name: ""),
      [
        ConfigurationKey.optional(
          "name", \.givenName,
          .text(
            "the app's name, as people know it", words: "a text",
            bytesMax: 100),
          example: "Example", "The app's name as customers know it; its name under apps without the key."),
        .optional(
          "ios_store", \.iosStore,
          .customerPage,
          example: "https://apps.apple.com/app/id1", "The app's page in the App Store."),
        .optional(
          "android_store", \.androidStore,
          .customerPage,
          example: "https://play.google.com/store/apps/details?id=com.example.app",
          "The app's page in Google Play."),
        .optional(
          "support", \.support, .support, example: "https://example.com/help",
          "Where customers get help: the address of a page, or an e-mail address. The page shows a reference "
            + "beside it, by which receiptctl finds the checkout."),
        .optional(
          "logo", \.logo, .logo, example: "logo.svg",
          "The picture at the top of the page, at most 256 KiB. It is read at the start and with each reload."
        ),
        .optional(
          "accent", \.accentLight, .color(.light), example: "#0b57b0",
          "The colour of links and of the button. Its contrast to the page's background must be 4.5 or "
            + "more."),
        .optional(
          "accent_dark", \.accentDark, .color(.dark), example: "#84b9ff",
          "The same in dark mode; without it, a lighter tone of accent."),
      ])

    fileprivate var givenName: String? {
      get { name.isEmpty ? nil : name }
      set { name = newValue ?? "" }
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
    public var trampoline = defaultTrampoline
    public var redirect = Redirect.permanent

    /// Swedbank Pay's own page, which its sample merchant backend uses.
    public static let defaultTrampoline = "https://ecom.payex.com/externalresourcehost/trampoline"

    static let section = ConfigurationSection(
      Self(),
      [
        .optional(
          "schemes", \.schemes,
          .set(
            of: .customScheme,
            count: 1...100,
            "schemes"),
          example: ["exampleapp"],
          "The URL schemes that the helpers may open; every scheme that an app may own without the key."),
        .optional(
          "packages", \.packages,
          .set(
            of: .name("a package name", pattern: packagePattern, show: \.text, PackageName.init),
            count: 1...100,
            "packages"),
          example: ["com.example.app"],
          "The Android packages that the helpers may open; every package without the key."),
        .key(
          "trampoline", \.trampoline, .endpoint(carriesSecret: false),
          example: "https://back.pay.example.com/v1/ios/trampoline",
          "The page from which a universal link opens the app. Its host must not be that of origin. The "
            + "default is Swedbank Pay's own."
        ).then { swedbank, reader, _ in
          guard swedbank.trampoline.utf8.contains(UInt8(ascii: "?")) else { return }
          reader.collector.fault(
            reader.path(of: "trampoline"), "has a query (?…); take it out, each link gets its own")
        },
        .key("redirect", \.redirect, .redirect, "The HTTP status of redirects."),
      ])
  }
}
