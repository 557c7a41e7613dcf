// The response format that a client prefers (RFC 9110 §12.5.1). Pure; called from any thread.

/// The media ranges of `Accept` fields.
public struct MediaRanges {
  private var json = 0.0
  private var html = 0.0

  /// - Parameter fields: the values of `Accept`, unparsed; unknown media ranges are ignored.
  public init(_ fields: [String]) {
    for range in fields.joined(separator: ",").split(separator: ",") {
      let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
      guard let type = parts.first else { continue }
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
      switch type {
      case "application/json": json = max(json, weight)
      case "text/html", "application/xhtml+xml": html = max(html, weight)
      default: break
      }
    }
  }

  /// Whether JSON is named and has at least the weight of HTML. `*/*` does not count as JSON: forms send it,
  /// and programs that send it follow redirects as well.
  public var preferJSON: Bool { json > 0 && json >= html }
}
