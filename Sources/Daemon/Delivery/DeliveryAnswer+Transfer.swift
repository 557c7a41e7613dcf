// The result of a transfer as the answer that destinations judge. Pure; called from any thread.

internal import Domain
internal import HTTPClient
internal import Partners

extension DeliveryAnswer {
  init(_ result: TransferResult) {
    let failure: Failure? = result.failure.map { fault in
      switch fault {
      case .certificateRejected, .certificateAuthorityUnreadable, .refusedURL, .refusedHeader:
        .misconfigured(fault.rawValue)
      default: .transient(fault.rawValue)
      }
    }
    self.init(
      status: result.status, retryAfter: result.header("Retry-After"),
      contentType: result.header("Content-Type"), body: result.body, failure: failure)
    isCoded = result.failure == .codedAnswer
  }
}
