// The verdict table of the contract (Delivery), for destinations that follow HTTP semantics (RFC 9110 §15).
// Pure.

public import Domain
internal import Formats

/// The meaning of an HTTP answer for a receipt.
public enum HTTPVerdict {
  /// - Parameter acceptance: interprets the body of a 2xx answer.
  public static func of(
    _ answer: DeliveryAnswer, now: Timestamp, acceptance: (DeliveryAnswer) -> Acceptance = Acceptance.read
  ) -> Verdict {
    // A status counts even if the rest of the answer was cut off: after a 2xx the receipt is accepted, unless
    // the received part says otherwise. Sending it again would duplicate it.
    guard let status = answer.status else { return withoutStatus(answer.failure) }
    let rest = answer.retryAfter.flatMap { RetryAfter.duration($0, now: now) }
    switch status {
    case 200...299:
      switch acceptance(answer) {
      case .accepted(let importID): return .delivered(importID: importID)
      case .notAccepted(let reason): return .misconfigured(reason)
      }
    case 429:
      return .coolDown(.status(status), for: rest ?? Delivery.coolDownDefault)
    case 300...399, 401, 402, 403, 407: return .misconfigured(.status(status))
    case 408, 409, 425: return .retry(.status(status), retryAfter: rest)
    case 400...499: return .refused(.status(status))
    // 5xx, and invalid HTTP statuses.
    default: return .retry(.status(status), retryAfter: rest)
    }
  }

  private static func withoutStatus(_ failure: DeliveryAnswer.Failure?) -> Verdict {
    switch failure {
    case .misconfigured(let word): .misconfigured(Reason(word))
    case .transient(let word): .retry(Reason(word), retryAfter: nil)
    case nil: .retry(Reason("no_answer"), retryAfter: nil)
    }
  }
}
