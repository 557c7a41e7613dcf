// A URL without its secrets: tokens are often in the userinfo or in the query (R7). Pure; any thread.

/// Removes secrets from URLs.
public enum RedactedURL {
  private static let mark: Substring = "***"

  /// The URL without userinfo, values of the query, and fragment (RFC 3986 §3); names in the query are kept.
  public static func text(_ url: String) -> String {
    var rest = url[...]
    var shown = ""
    if let hash = rest.firstIndex(of: "#") { rest = rest[..<hash] }
    let query = rest.firstIndex(of: "?").map { rest[rest.index(after: $0)...] }
    if let mark = rest.firstIndex(of: "?") { rest = rest[..<mark] }
    if let scheme = rest.firstRange(of: "://") {
      shown = String(rest[..<scheme.upperBound])
      rest = rest[scheme.upperBound...]
      let authority = rest.prefix { $0 != "/" }
      if let at = authority.lastIndex(of: "@") {
        shown += "\(mark)@"
        rest = rest[rest.index(after: at)...]
      }
    }
    shown += rest
    guard let query else { return shown }
    let members = query.split(separator: "&", omittingEmptySubsequences: false).map { member in
      guard let equals = member.firstIndex(of: "=") else { return member.isEmpty ? "" : mark }
      return member[...equals] + mark
    }
    return "\(shown)?\(members.joined(separator: "&"))"
  }
}

extension RedactedURL {
  /// The URL of a database without its passwords, and without the values of parameters that may be secret.
  /// Of a URL that cannot be split, only the scheme: with an unencoded @ or / in the password, any part may
  /// be a piece of it.
  static func database(_ url: String) -> String {
    guard var parts = try? DatabaseURLParts(url) else {
      return (DatabaseURLParts.scheme(of: url) ?? "") + mark
    }
    if parts.password != nil { parts.password = mark }
    for index in parts.parameters.indices where !parts.parameters[index].isHarmless {
      parts.parameters[index].value = mark
    }
    return parts.text
  }
}
