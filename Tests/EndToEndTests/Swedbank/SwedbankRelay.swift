// A relay with Swedbank Pay's helpers, how a test asks it, and how it reads its pages.

import JSON
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
  /// - Parameter fields: whole lines; without them none but `Host` and `Connection`, so no `User-Agent`.
  func ask(_ target: String, method: String = "GET", fields: [String] = ["Host: 127.0.0.1"]) throws -> Reply {
    let wire = try Wire(outside.api.port)
    let lines = ["\(method) \(target) HTTP/1.1"] + fields + ["Connection: close"]
    try wire.send(lines.map { "\($0)\r\n" }.joined() + "\r\n")
    return try wire.reply(hasBody: method != "HEAD")
  }
}

extension Reply {
  /// The addresses of the page's links, as a browser reads them.
  var links: [String] { attributes(#/<a [^>]*href="([^"]*)"/#) }

  /// Where the page leads by itself.
  var refresh: String? { attributes(#/<meta http-equiv="refresh" content="0;url=([^"]*)">/#).first }

  private func attributes(_ pattern: Regex<(Substring, Substring)>) -> [String] {
    text.matches(of: pattern).map { found in
      [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .reduce(String(found.1)) { $0.replacing($1.0, with: $1.1) }
    }
  }

  /// Whether it is a problem about the request, without a way anywhere.
  var isRefusal: Bool {
    status == 400 && header("Content-Type") == "application/problem+json" && header("Location") == nil
      && json?["type"] == "urn:receiptd:problem:badrequest" && json?["detail"]?.stringValue?.isEmpty == false
  }

  /// All that two answers to the same request have in common: not the time, not the request's id.
  var lasting: [String] {
    headers.filter { !$0.hasPrefix("Date:") && !$0.hasPrefix("X-Request-Id:") } + [String(status), text]
  }
}
