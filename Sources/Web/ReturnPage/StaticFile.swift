// Files that are served to devices and caches as they are: association files, and logos. Pure; called from
// any thread.

internal import Cryptography
internal import Formats
internal import HTTPServer

/// One prepared file.
struct StaticFile: Sendable {
  private let body: [UInt8]
  private let type: String
  /// A strong entity tag (RFC 9110 §8.8.3), derived from the content, so it is the same after a restart.
  private let entityTag: String

  /// - Parameter digest: the SHA-256 of the body, if it is known.
  init(_ body: [UInt8], type: String = "application/json", digest: [UInt8]? = nil) {
    self.body = body
    self.type = type
    entityTag = "\"\(Hex.encode(digest ?? SHA256.digest(body)).prefix(32))\""
  }

  /// The file, or 304 if the client has it already (RFC 9110 §13.1.2).
  func response(to head: RequestHead) -> Response {
    let isKnown = head.headers("If-None-Match").contains(where: isNamed)
    var response =
      isKnown
      ? Response(status: 304) : Response(status: 200, type: type, body: body)
    response.headers += [
      ("ETag", entityTag),
      // Apple's and Google's caches fetch rarely; a longer lifetime would delay changes of any file further.
      ("Cache-Control", "public, max-age=3600"), ("X-Content-Type-Options", "nosniff"),
    ]
    return response
  }

  /// Whether a field matches this file: `*`, or a list of tags, compared weakly.
  private func isNamed(_ field: String) -> Bool {
    field.split(separator: ",").contains { item in
      let tag = item.filter { $0 != " " && $0 != "\t" }
      return tag == "*" || tag == entityTag || tag == "W/\(entityTag)"
    }
  }
}
