// What an answer of Swedbank Pay's API becomes for the app. The media type decides, then the status: JSON is
// forwarded byte for byte, and errors as problem documents, because the SDKs read the type of an error only
// from those (SwedbankPay/swedbank-pay-sdk-mobile-example-merchant, util/networking.js). Pure; any thread.

internal import Formats

/// A successful answer: JSON with a status of 2xx.
struct SwedbankSuccess: Sendable {
  var status: Int
  var body: [UInt8]

  /// The answer to the app. The SDKs accept exactly `application/json`.
  func answer(_ edits: TextEdits = TextEdits()) -> BackendAnswer {
    BackendAnswer(status: status, headers: ["Cache-Control": "no-store"], body: edits.applied(to: body))
  }

  /// For an answer that lacks what the documentation promises.
  var unusable: BackendAnswer {
    SwedbankProblem.badGateway(status: status, body: nil, trouble: .unreadable)
  }
}

/// Classifies answers of the API.
struct SwedbankReplyReader: Sendable {
  let mask: TokenMask
  /// What the types of the relay's own problems begin with.
  let problemTypes: String
  /// Whether an answer without content (204) is a success. The SDKs require a body, so it becomes `{}`.
  var acceptsNoContent = false

  /// - Returns: a failure with the answer to the app for everything but a success.
  func read(_ reply: BackendReply) -> Result<SwedbankSuccess, Ending> {
    switch reply {
    case .unreachable, .noAnswer(isTimeout: false): return .failure(Ending(SwedbankProblem.unreachable))
    case .noAnswer(isTimeout: true): return .failure(Ending(SwedbankProblem.timeout))
    case .busy: return .failure(Ending(SwedbankProblem.busy(own: problemTypes)))
    case .answer(204, _, _) where acceptsNoContent:
      return .success(SwedbankSuccess(status: 200, body: Array("{}".utf8)))
    case .answer(let status, let contentType, let body):
      let type = MediaName(contentType)
      // An answer with another status could lead the app to another host, or be taken for a success.
      guard type.isJSON, (200...299).contains(status) || (400...599).contains(status),
        let isObject = JSONDocument.read(body, \.isObject)
      else { return .failure(Ending(unreadable(status, body))) }
      if status < 300 { return .success(SwedbankSuccess(status: status, body: body)) }
      guard isObject, type.isProblem else { return .failure(Ending(unreadable(status, body))) }
      return .failure(Ending(problem(status, body)))
    }
  }

  /// An answer to the app that ends a request.
  struct Ending: Error {
    let answer: BackendAnswer

    init(_ answer: BackendAnswer) { self.answer = answer }
  }

  private func unreadable(_ status: Int, _ body: [UInt8]) -> BackendAnswer {
    let max = SwedbankProblem.gatewayBodyMax
    // Long enough for a secret that begins before the cut.
    let shown = mask.readable(body).prefix(max + (mask.secrets.map(\.utf8.count).max() ?? 0))
    var text = mask.withoutSecrets(String(decoding: shown, as: UTF8.self))
    if text.utf8.count > max {
      text = String(decoding: text.utf8.prefix(max), as: UTF8.self)
      // The cut may be inside of a character.
      if text.last == "\u{FFFD}" { text.removeLast() }
    }
    return SwedbankProblem.badGateway(
      status: status, body: text, trouble: Self.trouble(status) ?? .unreadable)
  }

  /// Adds `status` unless it is an integer: an SDK decides by it.
  private func problem(_ status: Int, _ body: [UInt8]) -> BackendAnswer {
    let edits = JSONDocument.read(body) { root in
      var edits = mask.edits(root)
      if root.member("status")?.int64 == nil { edits.set([("status", Array("\(status)".utf8))], in: root) }
      return edits
    }
    return BackendAnswer(
      status: status, contentType: SwedbankProblem.contentType, headers: ["Cache-Control": "no-store"],
      body: (edits ?? TextEdits()).applied(to: body), trouble: Self.trouble(status))
  }

  /// 401 and 403 concern the merchant's token, although the app gets them unchanged.
  private static func trouble(_ status: Int) -> BackendTrouble? {
    switch status {
    case 401, 403: .credentials
    case 500...: .failed
    default: nil
    }
  }
}

/// A media type without its parameters (RFC 9110 §8.3.1), in lower case.
struct MediaName: Sendable {
  let text: String

  init(_ field: String?) {
    let name = field?.split(separator: ";", omittingEmptySubsequences: false).first ?? ""
    text = name.filter { $0 != " " && $0 != "\t" }.lowercased()
  }

  /// JSON, or a format that is based on it (RFC 6839 §3.1).
  var isJSON: Bool { text == "application/json" || text.hasPrefix("application/") && text.hasSuffix("+json") }

  /// What errors of the API have.
  var isProblem: Bool { text == "application/json" || text == "application/problem+json" }
}
