// A listener: matches a request to its route, admits it, and passes it to the handler. Runs on
// libmicrohttpd's threads and must not block them.

public import Domain
public import HTTPServer

/// A route table with authentication, as the handler of a server.
public struct Router: RequestHandler {
  /// Authenticates a request before its route is used, so that the answer does not disclose which paths
  /// exist.
  /// - route: the one at this path, for any method; nil if there is none.
  public typealias Gate = @Sendable (_ head: RequestHead, _ route: Route?) throws(Problem) -> Visitor

  private let services: ListenerServices
  let table: RouteTable
  private let gate: Gate
  private let refusal: @Sendable (Problem, Route?, _ requestID: String) -> Response
  private let roots: [ProblemRoot]
  private let pageOrigins: PageOrigins?

  /// The origins of the web pages that may use an app's client routes; empty for an app without any. It is a
  /// type, so that no closure for another purpose can be passed for it.
  public struct PageOrigins: Sendable {
    let of: @Sendable (AppSlug) -> Set<String>

    public init(of: @escaping @Sendable (AppSlug) -> Set<String>) { self.of = of }
  }

  /// - Parameters:
  ///   - roots: the forms of problems about paths without a route.
  ///   - pageOrigins: nil if no web page may use any route.
  ///   - refusal: makes the answer for a problem before admission.
  public init(
    services: ListenerServices, routes: [Route], roots: [ProblemRoot] = [], pageOrigins: PageOrigins? = nil,
    gate: @escaping Gate = { _, _ in Visitor(name: "") },
    refusal: @escaping @Sendable (Problem, Route?, String) -> Response = { problem, _, requestID in
      problem.response(requestID: requestID)
    }
  ) {
    self.services = services
    table = RouteTable(routes)
    self.roots = roots
    self.pageOrigins = pageOrigins
    self.gate = gate
    self.refusal = refusal
  }

  public func mayUseReserve(_ head: RequestHead) -> Bool {
    if case .route(let route, _) = table.find(method: head.method, path: head.path) {
      return route.usesReserve
    }
    return false
  }

  public func admit(_ head: RequestHead) -> Admission {
    let match = table.find(method: head.method, path: head.path)
    let route = match.route
    let access = access(head, match)
    var fields = access?.fields ?? []
    do throws(Problem) {
      let visitor = try gate(head, route)
      fields += visitor.fields
      switch match {
      case .route(let route, let parameters):
        let visit = Visit(
          head: head, visitor: visitor.name, mayChange: visitor.mayChange, parameters: parameters)
        return try admit(route, visit, fields)
      case .none: throw .notFound
      case .malformed: throw .malformedRequest
      case .method(_, let allowed, _):
        guard let access, CrossOriginAccess.isPreflight(head) else {
          throw .wrongMethod(allowed.joined(separator: ", "))
        }
        let answer = try access.preflight(allowed: allowed)
        return .answer(RequestScope(head, route: CrossOriginAccess.label, listener: services).finish(answer))
      }
    } catch {
      // Unconfigured app names are not logged.
      let app = error == .unknownApp ? nil : match.app
      let scope = RequestScope(
        head, route: label(match), app: app, fields: fields, listener: services)
      let form = route == nil ? roots.first { $0.contains(head.path) }?.form : route?.problemForm
      let response = form?(error, scope.requestID, app) ?? refusal(error, route, scope.requestID)
      return .answer(scope.finish(response))
    }
  }

  private func admit(
    _ route: Route, _ visit: Visit, _ fields: [(name: String, value: String)]
  ) throws(Problem) -> Admission {
    let handler = try route.admit(visit)
    if !route.readsCodedBodies, visit.head.hasCodedBody { throw .codedBody }
    let app = visit["app"].map(AppSlug.init)
    return .body(maximumBytes: route.bodyBytesMax) { [services] request, responder in
      let scope = RequestScope(
        request.head, route: route.label, app: app, problemForm: route.problemForm,
        fields: fields, listener: services)
      handler(request, Exchange(scope: scope, responder: responder))
    }
  }

  /// The metric's label. A request with a wrong method counts as `none`.
  private func label(_ match: RouteTable.Match) -> String {
    if case .route(let route, _) = match { route.label } else { "none" }
  }

  /// Not called: the admission gives every request its own handler.
  public func handle(_ request: Request, _ responder: Responder) {}

  public func response(to rejection: Rejection, head: RequestHead?) -> Response {
    let match = head.map { table.find(method: $0.method, path: $0.path) }
    var response = services.response(
      to: rejection, head: head, route: match.map(label) ?? "none", app: match?.namedApp,
      problemForm: match?.route?.problemForm)
    if let head, let match { response.headers += access(head, match)?.fields ?? [] }
    return response
  }

  /// Nil if no web page may use the path.
  private func access(_ head: RequestHead, _ match: RouteTable.Match) -> CrossOriginAccess? {
    guard let pageOrigins, let route = match.route, route.isForPages, let app = match.namedApp else {
      return nil
    }
    return CrossOriginAccess(head, origins: pageOrigins.of(app))
  }
}

extension RouteTable.Match {
  /// The route at the path, even if it does not accept the request's method.
  var route: Route? {
    switch self {
    case .route(let route, _), .method(let route, _, _): route
    case .none, .malformed: nil
    }
  }

  fileprivate var app: AppSlug? {
    if case .route = self { namedApp } else { nil }
  }

  /// The app that the path names, for any method.
  fileprivate var namedApp: AppSlug? {
    switch self {
    case .route(_, let parameters), .method(_, _, let parameters):
      parameters.first { $0.name == "app" }.map { AppSlug($0.value) }
    case .none, .malformed: nil
    }
  }
}
