// Sends a processor's lookups from the command line: one request at a time, with retries after a rate limit
// or a failure. Blocks; one thread.

internal import Domain
internal import HTTPClient
internal import Service
internal import Terminal

/// Queries one app's processor and waits for the answer.
struct ProcessorCaller {
  /// The most attempts of a rate-limited request, and of one that failed.
  static let attemptsMax = (limited: 6, failed: 4)
  /// A longer pause ends the command with a message, so that the operator can decide.
  static let pauseMax: Duration = .seconds(60)

  private let api: ProcessorAPI
  private let session: Session
  private let pool: TransferPool

  init(_ api: ProcessorAPI, _ session: Session) throws {
    self.api = api
    self.session = session
    do throws(TransferFailure) {
      pool = try TransferPool(connectionsMax: 1)
    } catch {
      throw OperatorFault(.unavailable, "libcurl could not be set up (\(error.rawValue))")
    }
  }

  /// The body of the answer.
  /// - Throws: `OperatorFault`: `refused` for a key or an address that is not accepted, else `unavailable`.
  func ask(_ request: TransferRequest) throws -> [UInt8] {
    var attempts = 0
    while true {
      attempts += 1
      let (cause, retryAfter, attemptsMax): (String, Duration?, Int)
      switch send(request) {
      case .body(let body): return body
      case .notFound:
        throw OperatorFault(.refused, "\(place) has no list of events; correct \(section).api_base")
      case .refused(let word):
        throw OperatorFault(
          .refused,
          "\(place) refuses the key (\(word)); see that \(section).api_key is right and may read "
            + "events, and that \(section).api_base is right")
      case .limited(let wait):
        (cause, retryAfter, attemptsMax) = ("limits the rate of requests", wait, Self.attemptsMax.limited)
      case .failed(let word, let wait):
        (cause, retryAfter, attemptsMax) = ("does not answer (\(word))", wait, Self.attemptsMax.failed)
      }
      let pause = Lookup.rest(failures: attempts, retryAfter: retryAfter)
      guard attempts < attemptsMax, pause <= Self.pauseMax else {
        throw OperatorFault(
          .unavailable,
          "\(place) \(cause); try again \(retryAfter == nil ? "later" : "in \(pause.components.seconds) s")"
        )
      }
      session.dependencies.pause(pause)
    }
  }

  private var section: String { api.processorName.text }

  private var place: String { "the processor of '\(DisplayText.clean(api.app.text))'" }

  private func send(_ request: TransferRequest) -> QueryAnswer {
    do throws(TransferFailure) {
      try pool.start(request, tag: 0)
    } catch {
      switch error {
      case .refusedURL, .refusedHeader: return .refused(error.rawValue)
      default: return .failed(error.rawValue, retryAfter: nil)
      }
    }
    // The transfer has its own time-out.
    while true {
      if let done = pool.run(timeout: .seconds(1)).first {
        return api.judge(done.result, now: session.moment)
      }
    }
  }
}
