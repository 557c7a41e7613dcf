// Decides whether an answer with a success status accepted the receipt (contract: Delivery). A wrong URL
// often leads to a login page, and some gateways report errors with status 200. Pure; any thread.

public import Domain
internal import Formats

/// The meaning of a 2xx answer's body.
public enum Acceptance: Sendable, Equatable {
  /// The receipt was accepted, with this import id if the answer has a storable one.
  case accepted(importID: String?)
  /// The answer is an HTML page, has errors and no id, or has a coding.
  case notAccepted(Reason)

  /// Parses an answer of the form `{"id":"<uuid>"}` or `{"errors":[…]}`.
  ///
  /// The body decides, because JSON answers often have a wrong or no media type; only `text/html` is trusted.
  /// A truncated body, one without end, or one of another form decides nothing: the status is the answer
  /// then. A coded body may hide errors, and the destination can be configured to send none.
  public static func read(_ answer: DeliveryAnswer) -> Acceptance {
    if answer.isCoded { return .notAccepted(.codedAnswer) }
    let body = withoutByteOrderMark(answer.body)
    if isHTML(mediaType: answer.contentType) || startsLikeHTML(body) { return .notAccepted(.htmlAnswer) }
    let found = JSONDocument.read(body) { root -> Acceptance in
      let id = root.member("id")?.string.flatMap { $0.isEmpty ? nil : $0 }
      if id == nil, let errors = root.member("errors"), !errors.isNothing {
        return .notAccepted(.errorAnswer)
      }
      return .accepted(importID: UntrustedText.identifier(id))
    }
    return found ?? .accepted(importID: nil)
  }

  /// Whether `Content-Type` is HTML. Type and subtype are case-insensitive, and parameters are ignored (RFC
  /// 9110 §8.3.1).
  private static func isHTML(mediaType: String?) -> Bool {
    guard let type = mediaType?.prefix(while: { $0 != ";" && $0 != "," }) else { return false }
    let name = type.lowercased().filter { $0 != " " && $0 != "\t" }
    return name == "text/html" || name == "application/xhtml+xml"
  }

  /// Whether a body without a usable type is an HTML page: it begins with one of two common tags (WHATWG MIME
  /// Sniffing §7.1).
  private static func startsLikeHTML(_ body: [UInt8]) -> Bool {
    let start = body.drop { [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains($0) }.prefix(14)
      .map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    return start.starts(with: "<!doctype html".utf8) || start.starts(with: "<html".utf8)
  }

  /// Parsers may ignore a byte order mark before JSON (RFC 8259 §8.1).
  private static func withoutByteOrderMark(_ body: [UInt8]) -> [UInt8] {
    body.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(body.dropFirst(3)) : body
  }
}

extension JSONNode {
  /// Whether the member `errors` contains no error: null, false, or an empty list, object or string.
  fileprivate var isNothing: Bool {
    if isNull || bool == false || isString("") { return true }
    guard isArray || isObject else { return false }
    var isEmpty = true
    forEachElement { _ in isEmpty = false }
    forEachMember { _, _ in isEmpty = false }
    return isEmpty
  }
}
