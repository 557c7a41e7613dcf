// Answers of merchant backends as HTTP responses, and the relay's problems in the form that the SDKs of a
// processor parse. Pure; called from any thread.

internal import Config
internal import Domain
internal import HTTPServer
internal import Partners
internal import Service

extension BackendAnswer {
  /// The response; caches store it only if the backend says so.
  var response: Response {
    var response = Response(status: status, type: contentType, body: body)
    response.add(headers)
    response.add(["Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"])
    return response
  }
}

extension BackendFault {
  init(_ problem: Problem) {
    self.init(slug: problem.slug, title: problem.title, status: problem.status, detail: problem.detail)
  }
}

/// The relay's problems as SDKs parse them.
enum BackendForm {
  /// The form of a processor's problems; nil for a problem document.
  static func of(_ kind: ProcessorKind, _ apps: AppRegistry) -> Route.ProblemForm? {
    guard let type = kind.backendType else { return nil }
    let name = kind.name
    return { problem, requestID, app in
      let backend = app.flatMap { apps.current[$0]?.processors[name]?.backend }
      let fault = BackendFault(problem)
      guard let answer = backend.map({ $0.rephrase(fault) }) ?? type.rephrase(fault) else {
        return problem.response(requestID: requestID)
      }
      var response = answer.response
      // Such as `Allow`, `Retry-After` and `WWW-Authenticate`.
      response.add(problem.headers)
      return response
    }
  }
}

extension Response {
  /// Adds the fields that it does not have yet.
  fileprivate mutating func add(_ fields: [String: String]) {
    for (name, value) in fields.sorted(by: { $0.key < $1.key })
    where !headers.contains(where: { $0.name.lowercased() == name.lowercased() }) {
      headers.append((name, value))
    }
  }
}

extension Problem {
  static let backendUserMissing = Problem.invalid(
    "missing-user",
    "Name the user who pays: in the path (/v1/{app}/users/{user_id}/…), in the header X-User-Id, or by a "
      + "token.")
  static let backendUsersDiffer = Problem.invalid(
    "users-differ",
    "The user is given more than once (path, header X-User-Id), with different values. Send it once.")
  static let backendForeignUser = Problem(
    slug: "wrong-user", title: "Another user's payment", status: 403,
    detail: "The request names another user than the token. Name no user; the token's user is used then.")
  static let contextNotText = Problem.invalid(
    "invalid-context", "X-Context-Id must be the id of one context. Send it once, or leave it out.")
  /// The client closed the connection, so nobody reads it.
  static let hungUp = Problem(
    slug: "hung-up", title: "Connection closed", status: 408,
    detail: "The connection was closed before the payment processor answered. The payment may have been "
      + "started.")
}
