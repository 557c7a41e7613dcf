// The errors of the simulated Swedbank Pay (RFC 9457;
// https://developer.swedbankpay.com/checkout-v3/technical-reference/problems). Pure.

internal import Formats
internal import HTTPServer

/// An error. Only `type` is meant for programs.
struct SandboxSwedbankProblem: Error, Equatable {
  struct Item: Equatable {
    /// The path of a value in the request: `paymentorder.currency`.
    var name: String
    var description: String
  }

  /// The last part of the type: `inputerror`.
  var type: String
  var status: Int
  var title: String
  var detail: String
  var items: [Item] = []

  static func input(_ items: [Item]) -> SandboxSwedbankProblem {
    SandboxSwedbankProblem(
      type: "inputerror", status: 400, title: "There was an input error",
      detail: "Please correct the errors and retry the request", items: items)
  }

  static func input(_ name: String, _ description: String) -> SandboxSwedbankProblem {
    input([Item(name: name, description: description)])
  }

  static func forbidden(_ detail: String) -> SandboxSwedbankProblem {
    SandboxSwedbankProblem(type: "forbidden", status: 403, title: "Operation not allowed", detail: detail)
  }

  static let unauthorized = SandboxSwedbankProblem(
    type: "unauthorized", status: 401, title: "Unauthorized",
    detail: "Send the merchant's token: Authorization: Bearer …")

  static let notFound = SandboxSwedbankProblem(
    type: "notfound", status: 404, title: "Not found", detail: "There is no such resource")

  static func notAllowed(_ methods: String) -> SandboxSwedbankProblem {
    SandboxSwedbankProblem(
      type: "methodnotallowed", status: 405, title: "Method not allowed", detail: "Use \(methods)")
  }

  static func system(_ status: Int, _ detail: String) -> SandboxSwedbankProblem {
    SandboxSwedbankProblem(type: "systemerror", status: status, title: "Error in system", detail: detail)
  }

  func response(instance: String = "sandbox") -> Response {
    var members: [JSONValue.Member] = [
      .init(name: "type", value: .string("https://api.payex.com/psp/errordetail/\(type)")),
      .init(name: "title", value: .string(title)), .init(name: "detail", value: .string(detail)),
      .init(name: "instance", value: .string(instance)),
      .init(name: "status", value: .integer(Int64(status))),
      .init(name: "action", value: type == "inputerror" ? "RetryNewData" : "Stop"),
    ]
    if !items.isEmpty {
      let problems = items.map { item -> JSONValue in
        ["name": .string(item.name), "description": .string(item.description)]
      }
      members.append(.init(name: "problems", value: .array(problems)))
    }
    return Response(
      status: status, type: "application/problem+json", body: JSONValue.object(members).serialized())
  }
}
