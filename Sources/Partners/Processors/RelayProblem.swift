// Errors of merchant backends in the relay's own form (RFC 9457), for SDKs that require no other. The code
// that answers adds the request's id. Pure; any thread.

internal import Formats

/// Makes problem documents like those of the rest of the API.
enum RelayProblem {
  static let type = "application/problem+json"
  /// What the types of the relay's own problems begin with.
  static let types = "urn:receiptd:problem:"

  /// - Parameters:
  ///   - members: in addition to those of every problem.
  ///   - trouble: why the processor could not serve the request.
  ///   - errorID: the processor's id of the error.
  static func answer(
    _ fault: BackendFault, members: [JSONValue.Member] = [], trouble: BackendTrouble? = nil,
    errorID: String? = nil
  ) -> BackendAnswer {
    let document: [JSONValue.Member] = [
      .init(name: "type", value: .string(types + fault.slug)),
      .init(name: "title", value: .string(fault.title)),
      .init(name: "status", value: .integer(Int64(fault.status))),
      .init(name: "detail", value: .string(fault.detail)),
    ]
    return BackendAnswer(
      status: fault.status, contentType: type, body: JSONValue.object(document + members).serialized(),
      trouble: trouble, errorID: errorID, lacksRequestID: true)
  }
}

extension BackendAnswer {
  /// The answer to one request: its id is in a problem document of the relay, as in those of the rest of the
  /// API. Any other answer is unchanged.
  public func completed(requestID: String) -> BackendAnswer {
    guard lacksRequestID else { return self }
    var answer = self
    answer.lacksRequestID = false
    let end = UInt8(ascii: "}")
    guard answer.body.last == end else { return answer }
    answer.body.removeLast()
    answer.body += Array(",\"request_id\":".utf8) + JSONValue.string(requestID).serialized() + [end]
    return answer
  }
}
