// The static files of the pages. They do not change while the program runs. Called from any thread.

internal import Cryptography
internal import Formats
internal import HTTPServer
internal import Platform

/// An embedded static file.
public struct DashboardFile: Sendable {
  let type: String
  let body: [UInt8]
  /// The entity tag: a quoted digest (RFC 9110 §8.8.3).
  let tag: String

  init(type: String, text: String) {
    self.type = type
    body = Array(text.utf8)
    tag = "\"\(Hex.encode(SHA256.digest(body)).prefix(32))\""
  }

  static let stylesheet = DashboardFile(type: "text/css; charset=utf-8", text: Stylesheet.text)
  static let icon = DashboardFile(
    type: "image/svg+xml",
    text: """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" \
      fill="#1d5fc4"/><path d="M9 7h14v18l-3.5-2-3.5 2-3.5-2L9 25z" fill="#fff"/><path d="M12 12h8M12 16h8" \
      stroke="#1d5fc4" stroke-width="2" stroke-linecap="round"/></svg>
      """)

  /// The version in its URLs.
  private var version: String { String(tag.dropFirst().prefix(12)) }

  /// A URL that changes with the content, so that a browser asks for it once, not once for each frame.
  func link(_ name: String) -> Link { Link(name, query: [("v", version)]) }

  /// The file, or 304 if the browser has it already.
  func response(to head: RequestHead) -> Response {
    let known = head.headers("If-None-Match").contains { $0.contains(tag) }
    var response = known ? Response(status: 304) : Response(status: 200, type: type, body: body)
    let isExact = head.query == "v=\(version)"
    response.headers += [
      ("ETag", tag), ("Cache-Control", isExact ? "private, max-age=31536000, immutable" : "no-cache"),
      ("X-Content-Type-Options", "nosniff"),
      ("Content-Security-Policy", "default-src 'none'"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
    return response
  }
}

// MARK: - RawBody

// Untrusted bytes for display: JSON is indented. Pure; called from any thread.

enum RawBody {
  /// Longer content is truncated, so that the page's size is bounded.
  static let shownBytesMax = 64 * 1024

  /// - Parameters:
  ///   - bytes: nil for a user who may not read them.
  ///   - name: the accessible name of the region.
  static func html(_ bytes: [UInt8]?, name: String) -> HTML {
    guard let bytes else { return Tag.p(.class("help")) { "Only operators may read it." } }
    let isWhole = bytes.count <= shownBytesMax
    // Anything but JSON is shown unchanged.
    let pretty = isWhole ? (try? JSONValue(parsing: bytes))?.prettyText : nil
    let text = pretty ?? String(decoding: bytes.prefix(shownBytesMax), as: UTF8.self)
    return HTML {
      // The region scrolls, so it must be reachable by keyboard.
      Tag.div(.class("raw"), .role("region"), .label(name), .tabindex(0)) {
        Tag.pre { Tag.code { text } }
      }
      // One line was not formatted.
      if let pretty, pretty.contains("\n") {
        Tag.p(.class("help")) { "Formatted for reading, with keys in alphabetical order." }
      }
      if !isWhole {
        Tag.p { "The first \(CountText.grouped(shownBytesMax)) of \(CountText.grouped(bytes.count)) bytes." }
      }
    }
  }
}
