// One request to a merchant backend, from its first step to its answer. A value; the thread that has it.

internal import Domain
internal import Partners
internal import Service
internal import Store

/// A request under way.
struct BackendFlow: Sendable {
  /// The most steps of one request, so that a fault of a backend does not occupy the worker for ever.
  static let stepsMax = 64

  let place: AppProcessor
  /// As it was when the request came; a reload changes only later requests.
  let endpoint: any ProcessorEndpoint
  let client: BackendClient
  /// What to do next.
  var step: BackendStep
  /// Whether the processor may have changed something for it. It is then carried on whatever happens.
  var hasEffects = false
  /// Why the last call failed, for the log.
  var failure: String?
  private var steps = 0

  init(place: AppProcessor, endpoint: any ProcessorEndpoint, client: BackendClient, step: BackendStep) {
    self.place = place
    self.endpoint = endpoint
    self.client = client
    self.step = step
  }

  /// Counts a step.
  /// - Returns: false if there were too many.
  mutating func countStep() -> Bool {
    steps += 1
    return steps <= Self.stepsMax
  }
}

extension StartedPayment {
  init(_ record: PurchaseRecord, _ capture: StoredCapture?) {
    self.init(
      key: record.purchase.key, facts: record.purchase.payment ?? PaymentFacts(),
      observations: record.purchase.observations, startedAt: record.purchase.createdAt,
      capture: capture)
  }
}

extension BackendTrouble {
  /// What happened, for the log.
  var words: String {
    switch self {
    case .unreachable: "a payment processor could not be reached"
    case .timeout: "a payment processor did not answer in time"
    case .unreadable: "the answer of a payment processor was not understood; check its api_base"
    case .credentials:
      "a payment processor refuses the app's credentials: no payment can be started until they are correct"
    case .failed: "a payment processor failed"
    }
  }
}

// MARK: - BackendClient

// The app's side of a request: who gets the answer. The workers know no connection, so a simulation can have
// its own clients. A value; any thread.

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
