// Decides which URLs may receive secrets and customers: https, or http to this machine (for test servers).
// Pure; any thread.

internal import Platform

/// Checks every URL in the configuration.
enum EndpointURL {
  /// - Parameter carriesSecret: whether a key is sent to the URL.
  /// - Returns: the fault and its fix; nil when the URL is valid.
  static func fault(in text: String, carriesSecret: Bool = true) -> String? {
    guard let separator = text.firstRange(of: "://") else {
      return "must be a whole address, such as https://host/path"
    }
    let scheme = text[..<separator.lowerBound].lowercased()
    guard scheme == "https" || scheme == "http" else { return "must begin with https://" }
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\"<>\\^`{|}".utf8.contains($0) }) else {
      return "has a character that an address cannot have; write it percent-encoded"
    }
    guard !text.utf8.contains(UInt8(ascii: "#")) else { return "has a fragment (#…); take it out" }
    let authority = text[separator.upperBound...].prefix { $0 != "/" && $0 != "?" }
    guard !authority.contains("@") else {
      return "has a user or password before the host; take it out"
        + (carriesSecret ? ", the key goes into api_key" : "")
    }
    guard let host = host(of: authority) else {
      return "has no usable host and port, such as host or host:8443"
    }
    guard scheme == "https" || isLoopback(host) else {
      let why = carriesSecret ? "would show the key to the network; it " : ""
      return "must begin with https:// (http:// \(why)is accepted for 127.0.0.1, [::1] and localhost only)"
    }
    return nil
  }

  /// The host of `host`, `host:port`, `[v6]` or `[v6]:port`; nil for any other form.
  private static func host(of authority: Substring) -> String? {
    var host = authority
    var port: Substring?
    if authority.first == "[" {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = authority[authority.index(after: authority.startIndex)..<end]
      guard let address = IPAddress(String(host)), address.isIPv6 else { return nil }
      let rest = authority[authority.index(after: end)...]
      guard rest.isEmpty || rest.first == ":" else { return nil }
      port = rest.isEmpty ? nil : rest.dropFirst()
    } else {
      if let colon = authority.firstIndex(of: ":") {
        host = authority[..<colon]
        port = authority[authority.index(after: colon)...]
      }
      let isName = host.utf8.allSatisfy {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
          || $0 == UInt8(ascii: ".")
      }
      guard isName, !host.isEmpty, host.utf8.count <= 253, host.first != "." else { return nil }
    }
    if let port {
      guard let number = UInt16(port), number > 0, port.first != "+" else { return nil }
    }
    return String(host)
  }

  private static func isLoopback(_ host: String) -> Bool {
    host.lowercased() == "localhost" || IPAddress(host)?.isLoopback == true
  }
}
