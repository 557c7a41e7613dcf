// Calls of merchant backends as transfers: the request of a call, what became of it, and how many of an app
// may be under way. Pure; any thread.

internal import Domain
internal import HTTPClient
internal import Partners
internal import Service

extension BackendCall {
  /// The longest answer.
  static let answerBytesMax = 1 << 20
  /// For name lookup, TCP and TLS together.
  static let connectTimeout: Duration = .seconds(10)

  /// The request; nil for a method that is not sent.
  /// - Parameters:
  ///   - base: scheme, host and port, from the configuration.
  ///   - common: the headers of every call to it. The call's replace them.
  func request(
    to base: String, _ common: [(name: String, value: String)]
  ) -> TransferRequest? {
    guard let method = TransferRequest.Method(rawValue: method) else { return nil }
    let own = Set(headers.keys.map { $0.lowercased() })
    var fields = common.filter { !own.contains($0.name.lowercased()) }
      .map { TransferHeader($0.name, $0.value) }
    fields += headers.sorted { $0.key < $1.key }.map { TransferHeader($0.key, $0.value) }
    if !fields.contains(where: { $0.name.lowercased() == "user-agent" }) {
      fields.append(TransferHeader("User-Agent", Version.userAgent))
    }
    return TransferRequest(
      method: method, url: url(at: base), headers: fields, body: body, timeout: timeout,
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
  /// The fewest, however many apps there are: half of it is still one place.
  static let shareMin = 2

  private var share = shareMax
  private let divisor: Int
  private var underWay: [AppSlug: Int] = [:]

  /// - Parameters:
  ///   - apps: how many apps share the places.
  ///   - divisor: which part of an app's share these places are: 2 is a half.
  init(apps: Int, divisor: Int = 1) {
    self.divisor = divisor
    use(apps: apps)
  }

  mutating func use(apps: Int) {
    share = min(Self.shareMax, max(Self.shareMin, BackendWorker.transfersMax / max(1, apps))) / divisor
  }

  func hasRoom(for app: AppSlug) -> Bool { underWay[app] ?? 0 < share }

  /// - Returns: false if the app has no place left.
  mutating func acquire(_ app: AppSlug) -> Bool {
    guard hasRoom(for: app) else { return false }
    underWay[app, default: 0] += 1
    return true
  }

  mutating func release(_ app: AppSlug) {
    let rest = (underWay[app] ?? 0) - 1
    underWay[app] = rest > 0 ? rest : nil
  }
}
