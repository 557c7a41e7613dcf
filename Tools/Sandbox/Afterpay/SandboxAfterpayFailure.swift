// The errors of the simulated Afterpay (https://developers.afterpay.com/afterpay-online/reference/errors).
// Pure.

internal import Formats
internal import HTTPServer

/// An error.
struct SandboxAfterpayFailure: Error, Equatable {
  var status: Int
  var code: String
  var message: String

  init(_ status: Int, _ code: String, _ message: String) {
    self.status = status
    self.code = code
    self.message = message
  }

  static func invalid(_ message: String) -> SandboxAfterpayFailure {
    SandboxAfterpayFailure(422, "invalid_object", message)
  }

  static let notFound = SandboxAfterpayFailure(404, "not_found", "Nothing was found at this address")
  static let unknownToken = SandboxAfterpayFailure(
    402, "invalid_token", "The token is invalid, expired or does not exist")

  func response(id: String = "sandbox") -> Response {
    let body: JSONValue = [
      "errorCode": .string(code), "errorId": .string(id), "message": .string(message),
      "httpStatusCode": .integer(Int64(status)),
    ]
    return Response(status: status, type: "application/json", body: body.serialized())
  }
}
