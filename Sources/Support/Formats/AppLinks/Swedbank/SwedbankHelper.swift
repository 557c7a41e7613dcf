// The paths of the helpers for Swedbank Pay's SDKs. Pure; thread-safe.

/// Swedbank Pay's payment URL helpers, by the end of their paths.
public enum SwedbankHelper: String, Sendable, CaseIterable {
  case androidIntent = "sdk-callback/android-intent"
  case iosUniversalLink = "sdk-callback/ios-universal-link"
  case complete = "complete"
  case cancel = "cancel"

  /// - Parameter segments: the segments after `swedbank` in a path.
  public init?(_ segments: ArraySlice<String>) {
    let found = Self.allCases.first { $0.rawValue.split(separator: "/").elementsEqual(segments, by: ==) }
    guard let found else { return nil }
    self = found
  }
}
