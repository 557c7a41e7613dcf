// Whether an answer with a success status accepted anything (contract: Delivery). A wrong URL often leads
// to a login page, and some gateways put errors under a 200. Pure; any thread.

public import Domain
internal import JSON

/// What the body of a 2xx says.
public enum Acceptance: Sendable, Equatable {
  /// The receipt was accepted, under this import id if the answer names one that can be kept.
  case accepted(importID: String?)
  /// The answer is a page for people, or names errors and no id.
  case notAccepted(Reason)

  /// Reads an answer of the form `{"id":"<uuid>"}` or `{"errors":[…]}`.
  ///
  /// The body decides, because media types of JSON are often wrong or missing; only `text/html` is believed.
  /// A body that was cut off, or that is neither, says nothing: the status line is the answer then.
  public static func read(_ answer: DeliveryAnswer) -> Acceptance {
    let body = withoutByteOrderMark(answer.body)
    if isHTML(mediaType: answer.contentType) || startsLikeHTML(body) { return .notAccepted(.htmlAnswer) }
    let found = JSONDocument.read(body) { root -> Acceptance in
      let id = root.member("id")?.string.flatMap { $0.isEmpty ? nil : $0 }
      if id == nil, let errors = root.member("errors"), !errors.isNothing {
        return .notAccepted(.errorAnswer)
      }
      return .accepted(importID: OutsideText.identifier(id))
    }
    return found ?? .accepted(importID: nil)
  }

  /// Whether `Content-Type` names HTML. Type and subtype are case-insensitive, parameters do not matter
  /// (RFC 9110 §8.3.1).
  private static func isHTML(mediaType: String?) -> Bool {
    guard let type = mediaType?.prefix(while: { $0 != ";" && $0 != "," }) else { return false }
    let name = type.lowercased().filter { $0 != " " && $0 != "\t" }
    return name == "text/html" || name == "application/xhtml+xml"
  }

  /// Whether a body without a usable type is a page: the two beginnings that every page of a browser has
  /// (WHATWG MIME Sniffing §7.1).
  private static func startsLikeHTML(_ body: [UInt8]) -> Bool {
    let start = body.drop { [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains($0) }.prefix(14)
      .map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    return start.starts(with: "<!doctype html".utf8) || start.starts(with: "<html".utf8)
  }

  /// Parsers may ignore one before JSON (RFC 8259 §8.1).
  private static func withoutByteOrderMark(_ body: [UInt8]) -> [UInt8] {
    body.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(body.dropFirst(3)) : body
  }
}

extension JSONNode {
  /// Whether an `errors` member names no error: null, false, or an empty list, object or string.
  fileprivate var isNothing: Bool {
    if isNull || bool == false || isString("") { return true }
    guard isArray || isObject else { return false }
    var isEmpty = true
    forEachElement { _ in isEmpty = false }
    forEachMember { _, _ in isEmpty = false }
    return isEmpty
  }
}
