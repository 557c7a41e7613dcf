// The allowed range of every number, duration and list of the configuration. The ranges are wide: they
// exclude mistakes and values that cannot be represented, not unwise ones. Pure; any thread.

internal import Formats
internal import Partners

/// The ranges that ConfigurationReader checks. Sizes are bytes.
public enum ConfigurationLimits {
  private static let millisecond: Duration = .milliseconds(1)
  private static let second: Duration = .seconds(1)
  private static let day: Duration = .days(1)
  private static let year: Duration = .days(365)
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
  static let clientKeys = 1...100
  static let clientOrigins = 0...100
  static let audiences = 1...20
  static let tokenLeeway: ClosedRange<Duration> = .zero...(.hours(1))
  static let proxies = 0...100
  static let webhookSecrets = 1...16
  /// A customer waits for the answer.
  static let checkoutTimeout: ClosedRange<Duration> = millisecond...(.minutes(1))
  static let userKeys = 1...20
  static let connectedAccounts = 1...1000
  /// Stripe's own limit for a metadata key is 40 characters (docs.stripe.com/api/metadata).
  static let userKeyBytesMax = 40
  static let textBytesMax = 4 * kibibyte

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
  static let retention = second...(year * 100)

  static let settleAfter: ClosedRange<Duration> = second...(.days(7))
  static let captureWithin: ClosedRange<Duration> = second...AfterpaySettings.captureWithinMax
  static let prices = 1...10_000
  static let backfillAfter: ClosedRange<Duration> = millisecond...year
  static let tolerance = second...day
  /// 0 disables the wait.
  static let joinWait: ClosedRange<Duration> = .zero...year

  static let linkedApps = 1...100
  static let linkedPaths = 0...500
  static let fingerprints = 1...50
  static let checkoutPages = 0...10_000
  /// These two keep a page for customers small: under 18 KB with any configuration.
  static let appNameBytesMax = 100
  static let storeURLBytesMax = 500
  static let logoBytesMax = 256 * 1024

  static let concurrency = 1...1000
  static let ratePerSecond = 0.001...100_000
  static let deliveryTimeout: ClosedRange<Duration> = millisecond...(.minutes(10))
  static let retrySteps = 1...100
  static let retryPause: ClosedRange<Duration> = millisecond...year
  static let jitter = 0.0...1.0
  static let giveUpAfter: ClosedRange<Duration> = millisecond...year
  public static let alerts = 0...20
  static let alertConditions = 1...20
  static let mailReceivers = 1...20
  static let alertEvery = second...(day * 7)
  static let alertAge = second...year
  static let alertDiskBytes = mebibyte...(1 << 50)
  static let alertCount = 0...1_000_000_000
  static let heartbeatEvery = second...day
  static let breakerFailures = 1...1_000_000
  static let breakerOpenFor: ClosedRange<Duration> = millisecond...day
}
