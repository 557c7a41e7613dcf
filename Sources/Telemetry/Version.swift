// The version of the programs.

/// The version of this build.
public enum Version {
  public static let number = "0.1.0"
  /// The value of `User-Agent` in outgoing requests.
  public static let userAgent = "receiptd/\(number)"
}
