// How a simulated server behaves for a while, and what that does to one request.

import HTTPClient
import Platform

/// The behaviour of a server and of the way to it.
enum Weather: CaseIterable {
  case fine, slow, flaky, down, refusing, silent, late, dropping, resting
  /// A login page with the status 200 stands in front of it.
  case hidden
  /// It answers 200, and what it says is wrong (`Lie`).
  case lying

  /// A destination is believed by its status alone (R3), so it has no lies to tell.
  static let ofDestinations = allCases.filter { $0 != .lying }
}

/// What is wrong with an answer of status 200.
enum Lie: CaseIterable {
  /// The end is missing, and nothing says so.
  case shortened
  /// The connection broke within the body.
  case brokenOff
  /// It does not end.
  case endless
  case empty
  /// An error as JSON.
  case error
  /// Something else of the same kind: another object, another issuer's keys.
  case other
}

/// What becomes of one request.
struct Fate {
  /// Whether the request reaches the server.
  var arrives = true
  var after: Int64
  var failure: TransferFailure?
  /// In place of what the server would answer.
  var status: Int?
  var retryAfter: String?
  var isPage = false
  var lie: Lie?

  static func draw(_ weather: Weather, patience: Int, _ random: inout SeededGenerator) -> Fate {
    let quick = Int64.random(in: 1...400, using: &random)
    let patience = Int64(patience)
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

  /// Whether the server's own, whole answer comes through.
  var isHonest: Bool { arrives && failure == nil && status == nil && lie == nil }

  /// What the client sees.
  /// - Parameters:
  ///   - answer: the server's own.
  ///   - other: what it says instead when it lies.
  func result(_ answer: (status: Int, headers: [TransferHeader], body: [UInt8]), other: [UInt8] = [])
    -> TransferResult
  {
    func result(
      _ status: Int?, _ headers: [TransferHeader] = [], _ body: [UInt8] = [],
      _ failure: TransferFailure? = nil
    ) -> TransferResult {
      TransferResult(
        status: status, headers: headers, body: body, failure: failure, requestWasSent: arrives,
        durationMilliseconds: after)
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
