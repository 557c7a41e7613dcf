// The bodies that apps post before a checkout: JSON, forms, and the blob in them.

import Domain
import Formats
import Partners

@testable import Daemon
@testable import HTTPServer
@testable import Service

extension FuzzTarget {
  /// The user of the path up to a NUL, if any, then the body.
  static let contextJSON = FuzzTarget("context-json", bytesMax: 32_768) { bytes in
    try checkNodes(bytes)
    guard let post = try context(bytes, type: "application/json") else { return }
    var fields = [("ply_context", post.blob.text), ("user_id", post.userID.text)]
    if let id = post.id { fields.append(("id", id.text)) }
    let body = JSONValue.object(fields.map { JSONValue.Member(name: $0.0, value: .string($0.1)) })
    let again = try context(body.serialized(), type: "Application/JSON ; charset=utf-8")
    try hold(again == post, "posted again it is another")
  }

  static let contextForm = FuzzTarget("context-form", bytesMax: 32_768) { bytes in
    guard let post = try context(bytes, type: "application/x-www-form-urlencoded") else { return }
    let user = post.userID.text.utf8.map { "%" + hexadecimal($0) }.joined()
    // HTML form encoding, where a space is a plus.
    let blob = post.blob.text.replacing("+", with: "%2B").replacing("=", with: "%3d")
    let id = post.id.map { "&id=\($0.text)" } ?? ""
    let form = "a=b\(id)&user_id=\(user)&ply_context=\(blob)\(id)&user_id=\(user)"
    let again = try context(Array(form.utf8), type: "application/x-www-form-urlencoded")
    try hold(again == post, "posted again it is another")
    let other = try context(Array("\(form)x".utf8), type: "application/x-www-form-urlencoded")
    try hold(other == nil, "one of two users is taken")
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }

  /// - Returns: nil when it is refused for a valid reason.
  private static func context(_ bytes: [UInt8], type: String) throws -> ContextPost? {
    var (pathUser, body): (String?, [UInt8]) = (nil, bytes)
    if bytes.contains(0) {
      let (first, rest) = halves(bytes, at: 0)
      (pathUser, body) = (String(validating: first, as: UTF8.self), rest)
    }
    let request = Request(
      head: FuzzRequest.head("POST", "/v1/ios/contexts", [("Content-Type", Array(type.utf8))]), body: body)
    do {
      let post = try ContextPost.read(request, pathUser: pathUser, rules: UserIDRules())
      let user = post.userID.text
      try hold(UntrustedText.identifier(user) == user, "a user that is not fit for a row")
      let named = pathUser.map { UserID(UntrustedText.trimmed($0)) } ?? post.userID
      try hold(named == post.userID, "the user of the path was overruled")
      try hold(post.id.map(\.isWellFormed) ?? true, "an id that no relay makes")
      try checkBlob(post.blob)
      return post
    } catch let fault as ContextPost.Fault {
      try hold(details.contains(fault.problem.detail), "an answer that nobody wrote: \(fault.problem.detail)")
      return nil
    }
  }

  /// All error details: none repeats input.
  private static let details = Set(
    ([
      .notJSON, .notForm, .blobMissing, .blobsDiffer, .userMissing, .usersDiffer, .userNotText,
      .wrongType(""),
      .wrongType("ply_context"), .wrongType("user_id"), .wrongType("id"), .idMalformed, .idsDiffer,
      .blob(.tooLong), .blob(.empty), .blob(.notBase64), .placeholder(.missingValue),
      .placeholder(.signedOut),
      .placeholder(.contextID),
    ] as [ContextPost.Fault]).map(\.problem.detail))

  static let plyContext = FuzzTarget("ply-context", bytesMax: 24_000) { bytes in
    try checkNodes(bytes)
    // The text as it is, and the base64 forms of these bytes.
    let text = String(decoding: bytes, as: UTF8.self)
    if let blob = try? PlyContext.read(text) {
      try hold(blob.text == text, "the blob was changed")
      try checkBlob(blob)
    }
    let standard = Base64.encode(bytes)
    let urlSafe = standard.replacing("+", with: "-").replacing("/", with: "_")
    let bare = Base64.encodeURL(bytes)
    let forms = [standard, urlSafe, bare].map { try? PlyContext.read($0) }
    try hold(
      (forms[0] != nil) == (1...PlyContext.decodedBytesMax).contains(bytes.count), "\(bytes.count) bytes")
    for form in forms {
      try hold(form?.priceID == forms[0]?.priceID && (form == nil) == (forms[0] == nil), "the forms differ")
    }
  }

  private static func checkBlob(_ blob: ContextBlob) throws {
    let decoded = PlyContext.bytes(of: blob.text) ?? []
    try hold((1...PlyContext.decodedBytesMax).contains(decoded.count), "a blob of \(decoded.count) bytes")
    try hold(blob.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a blob that is not base64")
    if let price = blob.priceID {
      try hold(UntrustedText.identifier(price.text) == price.text, "a price not fit for a row")
    }
  }
}
