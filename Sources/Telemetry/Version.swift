// The version of the programs.

/// What this build calls itself.
public enum Version {
  public static let number = "0.1.0"
  /// The value of `User-Agent` towards destinations.
  public static let userAgent = "receiptd/\(number)"
}
