// The behaviour of a simulated server for a while, and its effect on one request.

import Formats
import HTTPClient
import Platform

/// The behaviour of a server and of the network to it.
enum Weather: CaseIterable {
  case fine, slow, flaky, down, refusing, silent, late, dropping, resting
  /// A login page with status 200 answers instead of the server.
  case hidden
  /// It answers 200 with wrong content (`Lie`).
  case lying

  /// The relay believes a destination's status alone (R3), so a wrong body has no effect.
  static let ofDestinations = allCases.filter { $0 != .lying }
}

/// The fault in a response with status 200.
enum Lie: CaseIterable {
  /// The end is missing without an error.
  case shortened
  /// The connection breaks within the body.
  case brokenOff
  /// The body does not end.
  case endless
  case empty
  /// A JSON error.
  case error
  /// Another object of the same kind: another purchase's object, another issuer's keys.
  case other
}

/// The outcome of one request.
struct Fate {
  /// Whether the request reaches the server.
  var arrives = true
  var after: Int64
  var failure: TransferFailure?
  /// Replaces the server's status.
  var status: Int?
  var retryAfter: String?
  var isPage = false
  var lie: Lie?

  static func draw(_ weather: Weather, patience: Duration, _ random: inout SeededGenerator) -> Fate {
    let quick = Int64.random(in: 1...400, using: &random)
    let patience = patience.milliseconds
    switch weather {
    case .fine: return Fate(after: quick)
    case .slow: return Fate(after: min(quick * 20, patience - 1))
    case .flaky:
      let statuses: [Int?] = [nil, nil, 500, 502, 503, 408]
      return Fate(after: quick, status: statuses.randomElement(using: &random) ?? 500)
    case .down: return Fate(after: quick, status: 503)
    case .refusing: return Fate(arrives: false, after: 1, failure: .connectFailed)
    case .silent: return Fate(arrives: Bool.random(using: &random), after: patience, failure: .timeout)
    case .late: return Fate(after: patience, failure: .timeout)
    case .dropping: return Fate(after: quick, failure: .connectionLost)
    case .hidden: return Fate(after: quick, status: 403, isPage: true)
    case .resting:
      let asked = [nil, "7", "900", "999999999"].randomElement(using: &random) ?? nil
      return Fate(after: quick, status: 429, retryAfter: asked)
    case .lying: return Fate(after: quick, lie: Lie.allCases.randomElement(using: &random))
    }
  }

  /// Whether the server's complete answer arrives unchanged.
  var isHonest: Bool { arrives && failure == nil && status == nil && lie == nil }

  /// The client's result.
  /// - Parameters:
  ///   - answer: the server's own.
  ///   - other: the wrong answer.
  func result(_ answer: (status: Int, headers: [TransferHeader], body: [UInt8]), other: [UInt8] = [])
    -> TransferResult
  {
    func result(
      _ status: Int?, _ headers: [TransferHeader] = [], _ body: [UInt8] = [],
      _ failure: TransferFailure? = nil
    ) -> TransferResult {
      TransferResult(
        status: status, headers: headers, body: body, failure: failure, requestWasSent: arrives,
        duration: .milliseconds(after))
    }
    if let failure { return result(nil, [], [], failure) }
    if isPage { return result(200, [TransferHeader("Content-Type", "text/html")], Array("<html>".utf8)) }
    if let status { return result(status, retryAfter.map { [TransferHeader("Retry-After", $0)] } ?? []) }
    let part = Array(answer.body.prefix(answer.body.count / 2))
    switch lie {
    case nil: return result(answer.status, answer.headers, answer.body)
    case .shortened: return result(200, answer.headers, part)
    case .brokenOff: return result(200, answer.headers, part, .connectionLost)
    case .endless: return result(200, answer.headers, answer.body + answer.body, .answerTooLarge)
    case .empty: return result(200, answer.headers)
    case .error: return result(200, answer.headers, Array(#"{"error":{"type":"api_error"}}"#.utf8))
    case .other: return result(200, answer.headers, other)
    }
  }
}
