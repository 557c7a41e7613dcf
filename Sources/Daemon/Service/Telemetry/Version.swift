// The version of the programs.

internal import Platform

/// The version of this build.
public enum Version {
  public static var number: String { BuildOrigin.version }
  /// The commit and its date, for `--version`; nil for a build that does not know them.
  public static var origin: String? { BuildOrigin.text }
  /// The value of `User-Agent` in outgoing requests.
  public static let userAgent = "receiptd/\(number)"
}
