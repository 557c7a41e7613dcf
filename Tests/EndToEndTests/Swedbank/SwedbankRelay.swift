// A relay with Swedbank Pay's helpers, and how a test requests and reads its pages.

import Formats
import Testing

/// The helpers of the app `shop`.
enum Swedbank {
  static let origin = "https://pay.example.com"
  static let root = "/v1/shop/swedbank/"
  static let android = "\(root)sdk-callback/android-intent"
  static let ios = "\(root)sdk-callback/ios-universal-link"
  static let trampoline = "/v1/shop/trampoline"
  /// The configured page on the second host.
  static let page = "https://back.example.net/v1/shop/trampoline"

  /// `links` of the app.
  static func links(origin: String = origin, page: String = page, _ changes: JSONValue = [:]) -> JSONValue {
    let swedbank: JSONValue = ["trampoline": .string(page)]
    return [
      "links": [
        "origin": .string(origin), "return": ["name": "Kaffe & <Te>"], "swedbank": swedbank.merging(changes),
      ]
    ]
  }
}

extension Relay {
  /// One request as a browser sends it, every byte of its target raw.
  /// - Parameter fields: whole lines; if empty, only `Host` and `Connection`, so no `User-Agent`.
  func ask(_ target: String, method: String = "GET", fields: [String] = ["Host: 127.0.0.1"]) throws -> Reply {
    let wire = try Wire(outside.api.port)
    let lines = ["\(method) \(target) HTTP/1.1"] + fields + ["Connection: close"]
    try wire.send(lines.map { "\($0)\r\n" }.joined() + "\r\n")
    return try wire.reply(hasBody: method != "HEAD")
  }
}

extension Reply {
  /// The addresses of the page's links, as a browser parses them.
  var links: [String] { attributes(#/<a [^>]*href="([^"]*)"/#) }

  /// The target of the page's automatic refresh.
  var refresh: String? { attributes(#/<meta http-equiv="refresh" content="0; url=([^"]*)">/#).first }

  private func attributes(_ pattern: Regex<(Substring, Substring)>) -> [String] {
    text.matches(of: pattern).map { found in
      [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .reduce(String(found.1)) { $0.replacing($1.0, with: $1.1) }
    }
  }

  /// Whether it is a problem document about the request, without a link.
  var isRefusal: Bool { isBadRequest("badrequest") }

  /// Whether it is a problem document about a request that is not well-formed HTTP, without a link.
  var isMalformed: Bool { isBadRequest("malformed-request") }

  private func isBadRequest(_ problem: String) -> Bool {
    status == 400 && header("Content-Type") == "application/problem+json" && header("Location") == nil
      && json?["type"]?.stringValue == "urn:receiptd:problem:\(problem)"
      && json?["detail"]?.stringValue?.isEmpty == false
  }

  /// The parts that two responses to the same request share: everything except the time and the request's id.
  var lasting: [String] {
    headers.filter { !$0.hasPrefix("Date:") && !$0.hasPrefix("X-Request-Id:") } + [String(status), text]
  }
}
