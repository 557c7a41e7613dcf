// Calls of merchant backends as transfers: the request of a call, what became of it, and how many of an app
// may be under way. Pure; any thread.

internal import Domain
internal import HTTPClient
internal import Processors
internal import Telemetry

extension BackendCall {
  /// The longest answer.
  static let answerBytesMax = 1 << 20
  /// For name lookup, TCP and TLS together.
  static let connectTimeout: Duration = .seconds(10)

  /// The request; nil for a method that is not sent.
  func request(to backend: any MerchantBackend) -> TransferRequest? {
    guard let method = TransferRequest.Method(rawValue: method) else { return nil }
    let own = Set(headers.keys.map { $0.lowercased() })
    var fields = backend.headers.filter { !own.contains($0.name.lowercased()) }
      .map { TransferHeader($0.name, $0.value) }
    fields += headers.sorted { $0.key < $1.key }.map { TransferHeader($0.key, $0.value) }
    if !fields.contains(where: { $0.name.lowercased() == "user-agent" }) {
      fields.append(TransferHeader("User-Agent", Version.userAgent))
    }
    return TransferRequest(
      method: method, url: url(at: backend.base), headers: fields, body: body, timeout: timeout,
      connectTimeout: Self.connectTimeout, answerBytesMax: Self.answerBytesMax)
  }
}

extension BackendReply {
  /// What became of a call that was sent.
  init(_ result: TransferResult) {
    if let status = result.status, result.failure == nil {
      self = .answer(status: status, contentType: result.header("Content-Type"), body: result.body)
    } else if !result.requestWasSent {
      self = .unreachable
    } else {
      self = .noAnswer(isTimeout: result.failure == .timeout)
    }
  }

  /// What became of a call that was not sent.
  init(_ failure: TransferFailure) {
    self = failure == .poolFull ? .busy : .unreachable
  }
}

/// How many calls of each app are under way. One app's slow processor cannot take the places of the others
/// (R11).
struct BackendPlaces {
  /// The most calls of one app.
  static let shareMax = 32

  private var share: Int
  private var underWay: [AppSlug: Int] = [:]

  /// - Parameter apps: how many apps share the places.
  init(apps: Int) { share = Self.share(of: apps) }

  mutating func use(apps: Int) { share = Self.share(of: apps) }

  private static func share(of apps: Int) -> Int {
    max(1, min(shareMax, BackendWorker.transfersMax / max(1, apps)))
  }

  /// - Returns: false if the app has no place left.
  mutating func acquire(_ app: AppSlug) -> Bool {
    let count = underWay[app] ?? 0
    guard count < share else { return false }
    underWay[app] = count + 1
    return true
  }

  mutating func release(_ app: AppSlug) {
    let rest = (underWay[app] ?? 0) - 1
    underWay[app] = rest > 0 ? rest : nil
  }
}
