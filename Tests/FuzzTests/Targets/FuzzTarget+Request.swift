// The head of a request: target, path, query and header fields.

import Platform

@testable import HTTPServer
@testable import Relay

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
    // What is not UTF-8 does not come this far.
    guard let method = String(validating: words.first, as: UTF8.self),
      let target = String(validating: words.rest, as: UTF8.self)
    else { return }
    let fields = lines.dropFirst().map { line in
      let (name, value) = halves(Array(line), at: UInt8(ascii: ":"))
      return (name: String(decoding: name, as: UTF8.self), value: value)
    }
    let head = FuzzRequest.head(method, target, fields)
    if case .success(let route) = PublicRoute.find(head) { try checkRoute(route, head) }
    if let length = head.contentLength { try hold(length >= 0, "a length of \(length)") }
    _ = (head.hasBody, head.hasAmbiguousLength, ContextPost.mediaType(head), head.isUndecodable("X-User-Id"))
    if let key = ContextPost.clientKey(head) {
      try hold(fields.contains { contains($0.value, key) }, "a key that was not sent")
    }
    let id = RequestIDs().id(for: head)
    let isPlain = id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
    try hold(isPlain && (1...128).contains(id.utf8.count), "the request's id is \(id)")
    if let seconds = CheckoutBoard.waitSeconds(head.query) {
      try hold((0...CheckoutBoard.waitSecondsMax).contains(seconds), "a wait of \(seconds) s")
    }
  }

  /// The same path, taken apart byte by byte: who reads it otherwise could be led past a proxy's rules.
  private static func checkRoute(_ route: PublicRoute, _ head: RequestHead) throws {
    guard case .app(let app, let asked) = route else { return try checkFile(route, head) }
    let segments = ["v1", app] + segments(of: asked)
    let raw = head.path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    try hold(raw.count == segments.count + 1 && raw[0].isEmpty, "\(raw.count) parts make \(route)")
    for (raw, segment) in zip(raw.dropFirst(), segments) {
      try hold(decoded(Array(raw)) == Array(segment.utf8), "\(segment) is not what stands in the path")
    }
    try hold(head.method == (asked.isStored ? "POST" : "GET") || head.method == "HEAD", "\(head.method)")
    try hold(!head.path.utf8.contains(UInt8(ascii: "?")), "a path with a query")
  }

  private static func segments(of route: AppRoute) -> [String] {
    switch route {
    case .postContext(nil, .context): ["contexts"]
    case .postContext(nil, .checkout): ["checkout"]
    case .postContext(let user?, .context): ["users", user, "contexts"]
    case .postContext(let user?, .checkout): ["users", user, "checkout"]
    case .contextStatus(let id): ["contexts", id]
    case .webhook(let processor): ["webhooks", processor]
    case .returnPage: ["return"]
    case .trampoline: ["trampoline"]
    case .swedbank(let helper): ["swedbank"] + helper.rawValue.split(separator: "/").map(String.init)
    }
  }

  private static func checkFile(_ route: PublicRoute, _ head: RequestHead) throws {
    let name = route == .associationFile(.apple) ? "/apple-app-site-association" : "/assetlinks.json"
    let path = String(decoding: decoded(Array(head.path.utf8)), as: UTF8.self)
    try hold(path.hasSuffix(name), "\(path) is no association file")
    try hold(head.method == "GET" || head.method == "HEAD", "\(head.method)")
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
