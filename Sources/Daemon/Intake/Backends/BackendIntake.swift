// Requests of SDKs to an app's merchant backend: authorizes the client, finds the user, and begins the
// backend's steps, which the backend worker carries out. Runs on libmicrohttpd's threads, or on the key
// fetcher's thread after a fetch of a token's key; it must not block.

internal import Config
internal import Cryptography
internal import Domain
internal import HTTPServer
internal import Partners
internal import Platform
internal import Service

/// The routes of merchant backends.
struct BackendIntake: Sendable {
  /// The longest body of a request.
  static let bodyBytesMax = 256 << 10

  let services: ListenerServices
  let apps: AppRegistry
  let gate: ClientGate
  let limits: RequestLimits
  let committer: Committer
  let worker: BackendWorker
  /// For the merchant's own references of payments, which others must not guess.
  private let random = SecretRandomness()

  /// The routes of a processor: each path of its backend, with the user in the path and without.
  func routes(of kind: ProcessorKind) -> [Route] {
    let form = BackendForm.of(kind, apps)
    return kind.backendEndpoints.flatMap { endpoint in
      ["/v1/{app}/\(kind.name)/", "/v1/{app}/users/{user}/\(kind.name)/"].map { root in
        route(endpoint, of: kind.name, root, form)
      }
    }
  }

  private func route(
    _ endpoint: BackendEndpoint, of processor: ProcessorName, _ root: String, _ form: Route.ProblemForm?
  ) -> Route {
    Route(
      endpoint.isRead ? Route.reading : [endpoint.method], root + endpoint.path, label: endpoint.label,
      bodyBytesMax: endpoint.isRead ? 0 : Self.bodyBytesMax, problemForm: form
    ) { visit throws(Problem) in
      let app = try apps.app(of: visit)
      guard app.processors[processor]?.backend != nil else { throw .notFound }
      let caller = try admit(visit.head, endpoint, app)
      return apps.handler(of: app.slug) { request, app, exchange in
        gate.authorize(caller, app, exchange) { user in
          begin(request, Target(endpoint: endpoint, processor: processor, visit: visit), user, app, exchange)
        }
      }
    }
  }

  /// Decides from the head.
  private func admit(
    _ head: RequestHead, _ endpoint: BackendEndpoint, _ app: App
  ) throws(Problem) -> Caller {
    // Requests here use the merchant's credentials. An app that any client may use has no backend.
    guard app.isRestricted else {
      gate.count(app, "key")
      throw .unauthorized
    }
    if !endpoint.isRead { try check(limits.acquire(head, proxies: services.proxies), app) }
    let caller = try gate.poster(head, app).get()
    // Start nothing at the processor that could not be stored.
    if !endpoint.isRead, let problem = committer.refusal(for: app.slug)?.problem { throw problem }
    return caller
  }

  private func check(_ wait: Duration, _ app: App) throws(Problem) {
    guard wait > .zero else { return }
    gate.count(app, "limited")
    throw .limited(.payments, wait)
  }

  /// What a request is sent to.
  private struct Target {
    let endpoint: BackendEndpoint
    let processor: ProcessorName
    let visit: Visit
  }

  private func begin(
    _ request: Request, _ target: Target, _ tokenUser: UserID?, _ app: App, _ exchange: Exchange
  ) {
    // A reload may have removed the processor while the body arrived.
    guard let backend = app.processors[target.processor]?.backend else { return exchange.answer(.notFound) }
    let asked: BackendRequest
    do throws(Problem) {
      asked = try read(request, target, tokenUser, app)
    } catch {
      return exchange.answer(error)
    }
    let flow = BackendFlow(
      place: AppProcessor(app.slug, target.processor), endpoint: backend, client: BackendClient(exchange),
      step: backend.respond(to: asked))
    if case .answer(let answer) = flow.step { return worker.finish(flow, answer) }
    // If the client hangs up, its connection is freed; the steps are completed anyway.
    exchange.answerOnHangUp(.hungUp)
    if !worker.begin(flow) { exchange.answer(.stopping) }
  }

  private func read(
    _ request: Request, _ target: Target, _ tokenUser: UserID?, _ app: App
  ) throws(Problem) -> BackendRequest {
    let head = request.head
    let user = try user(head, pathUser: target.visit["user"], tokenUser, app)
    if target.endpoint.requiresUser, user == nil { throw .backendUserMissing }
    if !target.endpoint.isRead, let user { try check(limits.acquire(user: user, app: app.slug), app) }
    return BackendRequest(
      target.endpoint, parameters: target.endpoint.parameters(target.visit), body: request.body,
      contentType: head.header("Content-Type"), user: user, contextID: try context(head),
      rootPath: target.endpoint.root(of: head.path), clientAddress: services.proxies.client(head).text,
      userAgent: head.header("User-Agent"), reference: reference(),
      receivedAt: Timestamp(unixMilliseconds: services.clock.wallMilliseconds))
  }

  private func user(
    _ head: RequestHead, pathUser: String?, _ tokenUser: UserID?, _ app: App
  ) throws(Problem) -> UserID? {
    if head.isUndecodable("X-User-Id") { throw ContextPost.Fault.userNotText.problem }
    do throws(ContextPost.Fault) {
      let named = [pathUser].compactMap(\.self) + head.headers("X-User-Id")
      return try ContextPost.user(among: named, tokenUser: tokenUser, app.userIDs)
    } catch {
      switch error {
      case .usersDiffer: throw .backendUsersDiffer
      case .wrongUser:
        gate.count(app, "wrong_user")
        throw .backendForeignUser
      default: throw error.problem
      }
    }
  }

  private func context(_ head: RequestHead) throws(Problem) -> ContextID? {
    let named = head.headers("X-Context-Id")
    guard !head.isUndecodable("X-Context-Id"), ContextPost.agree(named) else { throw .contextNotText }
    return named.first.map(ContextID.init)
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

  private func reference() -> String {
    var random = random
    return String(
      decoding: (0..<30).map { _ in
        Self.alphabet[Int.random(in: Self.alphabet.indices, using: &random)]
      }, as: UTF8.self)
  }
}

extension BackendEndpoint {
  /// Whether it changes nothing.
  var isRead: Bool { method == "GET" }

  private var segments: [Substring] { path.split(separator: "/") }

  /// The values of the names in braces.
  func parameters(_ visit: Visit) -> [String: String] {
    segments.reduce(into: [:]) { values, segment in
      guard segment.hasPrefix("{"), segment.hasSuffix("}") else { return }
      let name = String(segment.dropFirst().dropLast())
      values[name] = visit[name]
    }
  }

  /// The path of the root, as it is written in the path of a request to this endpoint.
  func root(of path: String) -> String {
    // Bytes, not characters: a slash that forms one character with a combining mark is still a separator.
    var root = path.utf8[...]
    for _ in segments { while let last = root.popLast(), last != UInt8(ascii: "/") {} }
    return root.last == UInt8(ascii: "/") ? String(Substring(root)) : String(Substring(root)) + "/"
  }
}
