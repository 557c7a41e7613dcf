// The ranges and sizes that several keys share, or that are checked outside of a key; any other range is
// beside its key. They are wide: they exclude mistakes and values that cannot be represented, not unwise
// ones. Pure; any thread.

internal import Formats

/// The ranges that ConfigurationReader checks. Sizes are bytes.
public enum KeyRanges {
  private static let kibibyte = 1024
  private static let mebibyte = 1024 * kibibyte

  /// The configuration file; far more than a thousand apps need.
  static let fileBytesMax = 4 * mebibyte
  /// A file that a secret is read from.
  static let secretFileBytesMax = 16 * kibibyte
  /// A secret is sent in a header, and servers accept about 8 KiB of headers.
  static let secretBytesMax = 4 * kibibyte
  /// A certificate chain or a key.
  public static let pemFileBytesMax = mebibyte
  /// Apple's file has some 9 KiB.
  static let domainFileBytesMax = 64 * kibibyte

  static let ports = 0...65_535
  static let apps = 1...1000
  static let clientOrigins = 0...100
  static let proxies = 0...100
  static let webhookSecrets = 1...16
  static let textBytesMax = 4 * kibibyte
  static let prices = 1...10_000
  static let userIDTexts = 0...1000

  /// The minimum still holds a context of ordinary size.
  static let contextBodyBytes = kibibyte...(16 * mebibyte)
  static let webhookBodyBytes = kibibyte...(64 * mebibyte)
  static let connections = 1...100_000
  /// 0 reserves none for webhooks.
  static let webhookConnections = 0...100_000
  /// 0 answers every request at once.
  static let longPolls = 0...100_000
  static let requestTimeout: ClosedRange<Duration> = .milliseconds(10)...(.minutes(10))
  static let queue = 1...1_000_000

  static let checkoutPages = 0...10_000
  /// This and the app's name keep a page for customers small: under 18 KB with any configuration.
  static let storeURLBytesMax = 500
  static let logoBytesMax = 256 * 1024

  static let deliveryTimeout: ClosedRange<Duration> = .milliseconds(1)...(.minutes(10))
  public static let alerts = 0...20
  static let alertAge: ClosedRange<Duration> = .seconds(1)...(.days(365))
  static let alertDiskBytes = mebibyte...(1 << 50)
  static let alertCount = 0...1_000_000_000
}
