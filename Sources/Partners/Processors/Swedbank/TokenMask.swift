// Hides the merchant's secrets and the values of payment tokens in answers: with such a token and the
// merchant's account, a card is charged again, so they "should never leave the server"
// (SwedbankPay/swedbank-pay-sdk-mobile-example-merchant, routes/purchase-tokens.js). Pure; any thread.

internal import Formats

/// Hides tokens.
struct TokenMask: Sendable {
  /// Whether the app gets the values of payment tokens (`allow.expand_tokens`).
  let isOff: Bool
  /// What no app ever gets, wherever an answer repeats it: the merchant's token, and the secret at the end of
  /// `callbackUrl`. None is empty.
  let secrets: [String]

  /// What is in the place of a value.
  static let hidden = "********"

  /// The changes that hide every secret and token of an answer: of tokens, the strings of members such as
  /// `token`, `paymentToken` and `recurrenceToken`, and the same values inside of other strings, such as the
  /// URLs of operations.
  func edits(_ root: JSONNode) -> TextEdits {
    var edits = TextEdits()
    var tokens = Set(secrets)
    if !isOff { Self.collect(root, isToken: false, into: &tokens) }
    if !tokens.isEmpty { hide(tokens, in: root, isToken: false, &edits) }
    return edits
  }

  /// The text without the secrets.
  func withoutSecrets(_ text: String) -> String {
    secrets.reduce(text) { $0.replacing($1, with: Self.hidden) }
  }

  /// A body that may be JSON without its tokens, for an answer that repeats it as a text.
  func readable(_ body: [UInt8]) -> [UInt8] {
    if let edits = JSONDocument.read(body, edits) { return edits.applied(to: body) }
    if isOff { return body }
    // Where the tokens are in broken JSON is unknown.
    let mayHaveToken = String(decoding: body, as: UTF8.self).lowercased().contains("token")
    return mayHaveToken ? Array(Self.hidden.utf8) : body
  }

  /// Whether a member of this name has a token, or a list of tokens, as its value.
  static func isToken(name: JSONNode) -> Bool {
    guard let name = name.string?.lowercased() else { return false }
    return name.hasSuffix("token") || name.hasSuffix("tokens")
  }

  // The depth of both functions is limited by the depth of the text (`JSONDocument.read`).

  private static func collect(_ node: JSONNode, isToken: Bool, into tokens: inout Set<String>) {
    if node.isString {
      if isToken, let text = node.string, !text.isEmpty { tokens.insert(text) }
    } else if node.isArray {
      node.forEachElement { collect($0, isToken: isToken, into: &tokens) }
    } else if node.isObject {
      node.forEachMember { name, value in
        collect(value, isToken: Self.isToken(name: name), into: &tokens)
      }
    }
  }

  private func hide(
    _ tokens: Set<String>, in node: JSONNode, isToken: Bool, _ edits: inout TextEdits
  ) {
    if node.isString {
      guard let text = node.string else { return }
      if isToken, !isOff, !text.isEmpty { return edits.replace(node, by: .string(Self.hidden)) }
      let shown = withoutSecrets(Self.without(tokens, text) ?? text)
      if shown != text { edits.replace(node, by: .string(shown)) }
    } else if node.isArray {
      node.forEachElement { hide(tokens, in: $0, isToken: isToken, &edits) }
    } else if node.isObject {
      node.forEachMember { name, value in
        hide(tokens, in: value, isToken: Self.isToken(name: name), &edits)
      }
    }
  }

  /// The text with each part of a URL that is a token hidden; nil if none is.
  private static func without(_ tokens: Set<String>, _ text: String) -> String? {
    var out = ""
    var hasToken = false
    var part = ""
    func endPart() {
      let isToken =
        tokens.contains(part) || PercentEncoding.decode(part.utf8.span).map(tokens.contains) == true
      if isToken { hasToken = true }
      out += isToken ? hidden : part
      part = ""
    }
    for scalar in text.unicodeScalars {
      if delimiters.contains(scalar) {
        endPart()
        out.unicodeScalars.append(scalar)
      } else {
        part.unicodeScalars.append(scalar)
      }
    }
    endPart()
    return hasToken ? out : nil
  }

  /// The characters between the parts of a URL (RFC 3986 §2.2), and blanks.
  private static let delimiters: Set<Unicode.Scalar> = ["/", "?", "#", "&", "=", ";", ",", ":", " "]
}
