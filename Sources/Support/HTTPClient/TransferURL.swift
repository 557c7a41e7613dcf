// Checks URLs: https to any host, http only to this machine, no credentials. libcurl gets the parsed handle
// that was checked, so that two parsers cannot disagree on one text.

internal import CCurl

/// A URL that may be fetched.
///
/// Owns one `CURLU`; libcurl reads it during the transfer (CURLOPT_CURLU(3)).
@safe final class TransferURL {
  let handle: OpaquePointer
  /// "https" or "http": the only protocol that its transfer may use.
  let scheme: String
  let isLoopback: Bool
  let host: String
  /// Host and port: the only part of the URL that messages may show.
  let authority: String
  /// Scheme, host and port (RFC 6454 §4).
  var origin: String { "\(scheme)://\(authority)" }

  init(_ text: String) throws(TransferFailure) {
    guard let handle = unsafe curl_url() else { throw .outOfMemory }
    guard let (scheme, isLoopback) = unsafe TransferURL.check(text, handle) else {
      unsafe curl_url_cleanup(handle)
      throw .refusedURL
    }
    unsafe self.handle = handle
    host = unsafe TransferURL.part(CURLUPART_HOST, handle) ?? ""
    let port = unsafe TransferURL.part(CURLUPART_PORT, handle, UInt32(CURLU_DEFAULT_PORT)) ?? ""
    authority = "\(host):\(port)"
    self.scheme = scheme
    self.isLoopback = isLoopback
  }

  deinit {
    unsafe curl_url_cleanup(handle)
  }

  private static func check(_ text: String, _ handle: OpaquePointer) -> (scheme: String, isLoopback: Bool)? {
    // C would ignore the text after a NUL.
    guard !text.utf8.contains(0),
      unsafe curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_DISALLOW_USER)) == CURLUE_OK,
      unsafe part(CURLUPART_USER, handle) == nil, unsafe part(CURLUPART_PASSWORD, handle) == nil,
      let scheme = unsafe part(CURLUPART_SCHEME, handle)?.lowercased(),
      let host = unsafe part(CURLUPART_HOST, handle)?.lowercased()
    else { return nil }
    // libcurl accepts one slash or three, and then uses the path's first segment as the host.
    let rest = text.dropFirst(scheme.utf8.count)
    guard rest.hasPrefix("://"), !rest.hasPrefix(":///") else { return nil }
    let isLoopback = isLoopback(host: host)
    return scheme == "https" || scheme == "http" && isLoopback ? (scheme, isLoopback) : nil
  }

  private static func part(_ part: CURLUPart, _ handle: OpaquePointer, _ flags: UInt32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard unsafe curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text = unsafe text else {
      return nil
    }
    defer { unsafe curl_free(text) }
    return unsafe String(validatingCString: text)
  }

  /// 127.0.0.0/8 (RFC 1122 §3.2.1.3), ::1 (RFC 4291 §2.5.3), and "localhost", which libcurl resolves to those
  /// without a lookup (RFC 6761 §6.3). libcurl rewrites other notations of an IPv4 address as four numbers.
  private static func isLoopback(host: String) -> Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let octets = host.split(separator: ".", omittingEmptySubsequences: false)
    return octets.count == 4 && octets.first == "127"
      && octets.allSatisfy { $0.utf8.allSatisfy { (48...57).contains($0) } && UInt8($0) != nil }
  }
}
