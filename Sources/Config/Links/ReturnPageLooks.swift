// What a merchant may set of the return page: its logo, its colour, and where customers get help. Pure; any
// thread.

internal import Cryptography
public import Formats

extension AppConfiguration.Links {
  /// Where customers get help.
  public enum Support: Sendable, Equatable {
    /// An https URL.
    case page(String)
    /// An e-mail address.
    case address(String)

    var text: String {
      switch self {
      case .page(let text), .address(let text): text
      }
    }
  }

  /// The picture at the top of the return page.
  public struct Logo: Sendable, Equatable {
    /// The formats that all browsers show.
    public enum Format: String, Sendable {
      case svg = "image/svg+xml"
      case png = "image/png"
    }

    /// Of its file.
    public var path: String
    public var format: Format
    /// Empty in a program that does not serve it.
    public let bytes: [UInt8]
    /// The SHA-256 of the bytes, which each answer names.
    public let digest: [UInt8]

    public init(path: String, format: Format, bytes: [UInt8]) {
      self.path = path
      self.format = format
      self.bytes = bytes
      digest = SHA256.digest(bytes)
    }
  }
}

extension AppConfiguration.Links.ReturnPage {
  /// The colour of links and the button; nil for the page's own.
  public var accent: PageAccent? {
    guard let color = accentLight ?? accentDark else { return nil }
    return PageAccent(
      light: accentLight ?? PageMode.light.readable(color), dark: accentDark ?? PageMode.dark.readable(color))
  }
}

extension AppConfiguration.Links.Logo.Format {
  /// The format by the first bytes; nil for any other.
  init?(_ bytes: [UInt8]) {
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if let text = String(validating: bytes, as: UTF8.self), text.contains("<svg") {
      self = .svg
    } else {
      return nil
    }
  }
}
