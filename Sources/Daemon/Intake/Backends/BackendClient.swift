// The app's side of a request: who gets the answer. The workers know no connection, so a simulation can have
// its own clients. A value; any thread.

internal import Partners
internal import Service

/// Answers one request.
struct BackendClient: Sendable {
  let requestID: String
  /// The value of the label `route`, for the log.
  let route: String
  let answer: @Sendable (BackendAnswer) -> Void
  /// Answers with a problem of the relay, in the form that the processor's SDKs parse.
  let refuse: @Sendable (Problem) -> Void
}

extension BackendClient {
  init(_ exchange: Exchange) {
    let requestID = exchange.scope.requestID
    self.init(
      requestID: requestID, route: exchange.scope.route,
      answer: { answer in
        // The response is made on the thread that sends it.
        exchange.answer { answer.completed(requestID: requestID).response }
      },
      refuse: { exchange.answer($0) })
  }
}
