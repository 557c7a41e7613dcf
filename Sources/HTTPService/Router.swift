// A listener: matches a request to its route, admits it, and passes it to the handler. Runs on
// libmicrohttpd's threads and must not block them.

internal import Domain
public import HTTPServer

/// A route table with authentication, as the handler of a server.
public struct Router: RequestHandler {
  /// Authenticates a request before its route is used, so that the answer does not disclose which paths
  /// exist.
  /// - route: the one at this path, for any method; nil if there is none.
  /// - Returns: the user's name.
  public typealias Gate = @Sendable (_ head: RequestHead, _ route: Route?) throws(Problem) -> String

  private let services: ListenerServices
  let table: RouteTable
  private let gate: Gate
  private let refusal: @Sendable (Problem, Route?, _ requestID: String) -> Response
  private let roots: [ProblemRoot]

  /// - Parameters:
  ///   - roots: the forms of problems about paths without a route.
  ///   - refusal: makes the answer for a problem before admission.
  public init(
    services: ListenerServices, routes: [Route], roots: [ProblemRoot] = [],
    gate: @escaping Gate = { _, _ in "" },
    refusal: @escaping @Sendable (Problem, Route?, String) -> Response = { problem, _, requestID in
      problem.response(requestID: requestID)
    }
  ) {
    self.services = services
    table = RouteTable(routes)
    self.roots = roots
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
    do throws(Problem) {
      let visitor = try gate(head, route)
      switch match {
      case .route(let route, let parameters):
        return try admit(route, Visit(head: head, visitor: visitor, parameters: parameters))
      case .none: throw .notFound
      case .malformed: throw .malformedRequest
      case .method(_, let allowed): throw .wrongMethod(allowed.joined(separator: ", "))
      }
    } catch {
      // Unconfigured app names are not logged.
      let app = error == .unknownApp ? nil : match.app
      let scope = RequestScope(head, route: label(match), app: app, listener: services)
      let form = route == nil ? roots.first { $0.contains(head.path) }?.form : route?.problemForm
      let response = form?(error, scope.requestID) ?? refusal(error, route, scope.requestID)
      return .answer(scope.finish(response))
    }
  }

  private func admit(_ route: Route, _ visit: Visit) throws(Problem) -> Admission {
    let handler = try route.admit(visit)
    let app = visit["app"].map(AppSlug.init)
    return .body(maximumBytes: route.bodyBytesMax) { [services] request, responder in
      let scope = RequestScope(
        request.head, route: route.label, app: app, problemForm: route.problemForm, listener: services)
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
    if case .route(let route, _)? = match {
      return services.response(
        to: rejection, head: head, route: route.label, problemForm: route.problemForm)
    }
    return services.response(
      to: rejection, head: head, route: "none", problemForm: match?.route?.problemForm)
  }
}

extension RouteTable.Match {
  /// The route at the path, even if it does not accept the request's method.
  var route: Route? {
    switch self {
    case .route(let route, _), .method(let route, _): route
    case .none, .malformed: nil
    }
  }

  fileprivate var app: AppSlug? {
    if case .route(_, let parameters) = self {
      parameters.first { $0.name == "app" }.map { AppSlug($0.value) }
    } else {
      nil
    }
  }
}
