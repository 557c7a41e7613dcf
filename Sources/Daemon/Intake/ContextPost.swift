// Parses a posted context: body, user, client key. Pure; called from any thread.

internal import Domain
internal import Formats
internal import HTTPServer
internal import Partners
internal import Service

/// A context that a client posts before a web checkout.
struct ContextPost: Sendable, Equatable {
  var userID: UserID
  var blob: ContextBlob
  /// The id that the client made; nil if the relay makes it.
  var id: ContextID?

  /// The client key of the request: from `Authorization`, else from `X-API-KEY`, else from the first of these
  /// header fields that it has.
  static func clientKey(_ head: RequestHead, or headers: [String] = []) -> [UInt8]? {
    guard let authorization = head.header("Authorization") else {
      let key = (["X-API-KEY"] + headers).lazy.compactMap { head.header($0) }.first
      return key.map { Array($0.utf8) }
    }
    let blank = UInt8(ascii: " ")
    let parts = Array(authorization.utf8).split(separator: blank, maxSplits: 1)
    // The scheme's name is case-insensitive (RFC 9110 §11.1).
    guard parts.count == 2, parts[0].map({ $0 | 0x20 }).elementsEqual("bearer".utf8) else { return nil }
    return Array(parts[1].drop { $0 == blank })
  }

  /// The fields of the body. A field may be repeated, so each is a list.
  private struct Body {
    var blobs: [String]
    var users: [String]
    var ids: [String]
  }

  /// Parses a request.
  /// - Parameters:
  ///   - pathUser: the user in the path, decoded.
  ///   - tokenUser: the user of the token; used if the request names no user, and required to match
  ///     otherwise.
  ///   - rules: the app's.
  static func read(
    _ request: Request, pathUser: String?, tokenUser: UserID? = nil, rules: UserIDRules
  ) throws(Fault) -> ContextPost {
    let body = try body(of: request)
    if request.head.isUndecodable("X-User-Id") { throw .userNotText }
    guard let text = body.blobs.first else { throw .blobMissing }
    guard agree(body.blobs) else { throw .blobsDiffer }
    // All places and all repeated fields must agree: a proxy in front may have checked another one.
    let named = [pathUser].compactMap(\.self) + body.users + request.head.headers("X-User-Id")
    guard let userID = try user(among: named, tokenUser: tokenUser, rules) else { throw .userMissing }
    guard agree(body.ids) else { throw .idsDiffer }
    let id = body.ids.first.map(ContextID.init)
    if let id, id.time == nil { throw .idMalformed }
    do {
      return ContextPost(userID: userID, blob: try PlyContext.read(text), id: id)
    } catch {
      throw .blob(error)
    }
  }

  private static func body(of request: Request) throws(Fault) -> Body {
    guard request.head.mediaType == .form else {
      let body = try JSONDocument.read(request.body) { root throws(Fault) in
        guard root.isObject else { throw root.isNull ? .notJSON : .wrongType("") }
        return Body(
          blobs: try texts("ply_context", of: root), users: try texts("user_id", of: root),
          ids: try texts("id", of: root))
      }
      guard let body else { throw .notJSON }
      return body
    }
    do {
      let fields = try FormFields.all(in: request.body.span)
      func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }
      // Base64 has no spaces: a space is a `+` that the client did not escape.
      return Body(
        blobs: values("ply_context").map { blob in String(blob.map { $0 == " " ? "+" : $0 }) },
        users: values("user_id"), ids: values("id"))
    } catch {
      throw .notForm
    }
  }

  /// The strings of all members with this name; `null` counts as absent.
  private static func texts(_ name: StaticString, of object: JSONNode) throws(Fault) -> [String] {
    var texts: [String] = []
    var fault: Fault?
    object.forEachMember { key, value in
      guard key.isString(name), !value.isNull else { return }
      if let text = value.string {
        texts.append(text)
      } else {
        // A string without a value has, for instance, an unpaired surrogate: that is invalid JSON.
        fault = fault ?? (value.isString ? .notJSON : .wrongType("\(name)"))
      }
    }
    if let fault { throw fault }
    return texts
  }

  /// Whether all strings are equal, byte for byte: users and blobs are opaque, and two strings that look
  /// equal may differ.
  static func agree(_ texts: [String]) -> Bool {
    guard let first = texts.first else { return true }
    return texts.dropFirst().allSatisfy { $0.utf8.elementsEqual(first.utf8) }
  }

  /// The user that the places of a request name, and its token. Every route that ingests a user from an app
  /// calls it.
  /// - Parameter named: what each place that names a user says.
  /// - Returns: nil if there is none.
  static func user(
    among named: [String], tokenUser: UserID?, _ rules: UserIDRules
  ) throws(Fault) -> UserID? {
    let named = named.map(UntrustedText.trimmed)
    guard agree(named) else { throw .usersDiffer }
    guard let text = named.first ?? tokenUser?.text else { return nil }
    switch rules.read(text) {
    case .user(let user):
      if let tokenUser, UntrustedText.trimmed(tokenUser.text) != user.text { throw .wrongUser }
      return user
    case .refused(_, let cause): throw .placeholder(cause)
    case .invalid: throw .userNotText
    }
  }

  /// What is wrong with a post.
  enum Fault: Error, Equatable {
    case notJSON, notForm, blobMissing, blobsDiffer, userMissing, usersDiffer, userNotText, wrongUser
    case idMalformed, idsDiffer
    case placeholder(UserIDRules.Cause)
    case wrongType(String)
    case blob(PlyContext.Fault)

    var problem: Problem {
      switch self {
      case .notJSON: .invalid("invalid-json", "The body is not a JSON object. Send {\"ply_context\": \"…\"}.")
      case .notForm:
        .invalid("invalid-form", "The body is not a form: check its percent signs and its encoding.")
      case .wrongType(""):
        .invalid("invalid-json", "The body must be a JSON object: {\"ply_context\": \"…\"}.")
      case .wrongType(let field): .invalid("invalid-\(Self.slug(field))", "`\(field)` must be text.")
      case .blobMissing:
        .invalid("missing-ply-context", "Send `ply_context`, exactly as the Purchasely SDK returned it.")
      case .userMissing:
        .invalid(
          "missing-user",
          "Name the user: in the path (/v1/{app}/users/{user_id}/contexts), as `user_id` in the body, "
            + "or in the header X-User-Id. It must be the id that the Purchasely SDK was given.")
      case .blobsDiffer:
        .invalid(
          "ply-contexts-differ", "`ply_context` is given more than once, with different values. Send it once."
        )
      case .usersDiffer:
        .invalid(
          "users-differ",
          "The user is given more than once (path, `user_id` in the body, header X-User-Id), with different "
            + "values. Send it once.")
      case .userNotText:
        .invalid(
          "invalid-user",
          "A user id has 1 to \(UntrustedText.identifierBytesMax) bytes of UTF-8 and no control characters.")
      case .placeholder(let cause): .placeholderUser(cause)
      case .wrongUser: .wrongUser
      case .idMalformed:
        .invalid(
          "invalid-id",
          "`id` must be `ctx_` and 26 characters of Crockford's base32 in upper case: 48 bits of "
            + "milliseconds since 1970, then 80 random bits. Leave it out to get an id from the relay.")
      case .idsDiffer:
        .invalid("ids-differ", "`id` is given more than once, with different values. Send it once.")
      case .blob(.tooLong):
        .invalid("ply-context-too-long", "`ply_context` may decode to \(PlyContext.decodedBytesMax) bytes.")
      case .blob(.empty), .blob(.notBase64):
        .invalid(
          "invalid-ply-context",
          "`ply_context` must be base64 of at least one byte, as the Purchasely SDK returned it.")
      }
    }

    private static func slug(_ field: String) -> String {
      switch field {
      case "user_id": "user"
      case "id": "id"
      default: "ply-context"
      }
    }
  }
}

extension Problem {
  /// The user that a request names is none.
  static func placeholderUser(_ cause: UserIDRules.Cause) -> Problem {
    let why =
      switch cause {
      case .missingValue:
        "It is the text that programs make of a missing value, such as `undefined`, `null` or `nil`: the app "
          + "probably read the id before it was known. Send the request when the id is known."
      case .signedOut:
        "It is a common word for a user who has not signed in, and all such users would be one. Send the "
          + "anonymous id that the Purchasely SDK has for this installation."
      case .contextID: "It is the id of a context, or was one. Send the id of the user."
      case .configured: "The operator of this service refuses it: see `user_ids.refuse` in the configuration."
      }
    return Problem(
      slug: "placeholder-user", title: "Placeholder instead of a user", status: 422,
      detail: "The id of the user is not one. \(why)")
  }
}
