// The head of a request: target, path, query and header fields.

@testable import Daemon
@testable import HTTPServer
@testable import Service

/// Requests without a server.
enum FuzzRequest {
  static func head(_ method: String, _ target: String, _ fields: [(name: String, value: [UInt8])])
    -> RequestHead
  {
    var headers = HeaderFields()
    for (name, value) in fields {
      let name = Array(name.utf8)
      unsafe name.withUnsafeBytes { name in
        unsafe value.withUnsafeBytes { value in unsafe headers.append(name: name, value: value) }
      }
    }
    return RequestHead(method: method, target: target, remoteAddress: "127.0.0.1", fields: headers)
  }
}

extension FuzzTarget {
  /// Method and target on the first line, then header fields.
  static let request = FuzzTarget("request") { bytes in
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let words = halves(Array(lines[0]), at: UInt8(ascii: " "))
    // Invalid UTF-8 is refused earlier.
    guard let method = String(validating: words.first, as: UTF8.self),
      let target = String(validating: words.rest, as: UTF8.self)
    else { return }
    let fields = lines.dropFirst().map { line in
      let (name, value) = halves(Array(line), at: UInt8(ascii: ":"))
      return (name: String(decoding: name, as: UTF8.self), value: value)
    }
    let head = FuzzRequest.head(method, target, fields)
    if case .route(let route, let parameters) = routes.find(method: head.method, path: head.path) {
      try check(route, parameters, head)
    }
    if let length = head.contentLength { try hold(length >= 0, "a length of \(length)") }
    _ = (head.hasBody, head.hasAmbiguousLength, head.mediaType, head.isUndecodable("X-User-Id"))
    if let key = ContextPost.clientKey(head) {
      try hold(fields.contains { contains($0.value, key) }, "a key that was not sent")
    }
    let id = RequestIDs().id(for: head)
    let isPlain = id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
    try hold(isPlain && (1...128).contains(id.utf8.count), "the request's id is \(id)")
    if let seconds = CheckoutPolls.waitSeconds(head.query) {
      try hold((0...CheckoutPolls.waitSecondsMax).contains(seconds), "a wait of \(seconds) s")
    }
  }

  /// Every form of path that a listener has.
  private static let routes = RouteTable(
    [
      (["POST"], "/v1/{app}/contexts"), (["POST"], "/v1/{app}/users/{user}/contexts"),
      (Route.reading, "/v1/{app}/contexts/{context}"), (["POST"], "/v1/{app}/webhooks/stripe"),
      (Route.reading, "/.well-known/assetlinks.json"), (Route.reading, "/"),
      (Route.reading, "/v1/{app}/swedbank/complete"),
    ].map { methods, path in
      Route(methods, path, label: path, isLiteral: path.hasSuffix("complete")) { _ in { _, _ in } }
    })

  /// Parses the same path byte by byte: a second interpretation could bypass a proxy's rules.
  private static func check(
    _ route: Route, _ parameters: [(name: String, value: String)], _ head: RequestHead
  ) throws {
    let slash = UInt8(ascii: "/")
    let raw = head.path.utf8.split(separator: slash, omittingEmptySubsequences: false)
    let pattern = route.path.utf8.split(separator: slash, omittingEmptySubsequences: false)
    try hold(raw.count == pattern.count && raw[0].isEmpty, "\(raw.count) parts make \(route.path)")
    var rest = parameters[...]
    for (raw, segment) in zip(raw.dropFirst(), pattern.dropFirst()) {
      let isParameter = segment.first == UInt8(ascii: "{")
      let expected = isParameter ? Array((rest.popFirst()?.value ?? "").utf8) : Array(segment)
      try hold(decoded(Array(raw)) == expected, "\(expected) is not what is in the path")
      if route.isLiteral, !isParameter { try hold(Array(raw) == expected, "an escape in a literal path") }
    }
    try hold(route.methods.contains(head.method), "\(head.method)")
    try hold(!head.path.utf8.contains(UInt8(ascii: "?")), "a path with a query")
  }

  private static func decoded(_ raw: [UInt8]) -> [UInt8] {
    var out: [UInt8] = []
    var rest = raw[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%") {
        out.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
        rest = rest.dropFirst(2)
      } else {
        out.append(byte)
      }
    }
    return out
  }

  private static func contains(_ whole: [UInt8], _ part: [UInt8]) -> Bool {
    part.isEmpty || whole.indices.contains { whole[$0...].starts(with: part) }
  }
}
