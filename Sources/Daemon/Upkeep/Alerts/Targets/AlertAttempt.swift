// What became of one attempt to send a notice, whatever the receiver is. Pure; called from any thread.

public import Domain
internal import Formats
public import HTTPClient
internal import Partners

/// The result of an attempt to send a notice.
public struct AlertAttempt: Sendable, Equatable {
  public var isAccepted: Bool
  /// Whether the receiver may have the notice although it is not known to have accepted it.
  var mayHaveArrived = false
  /// Whether the receiver refused the notice, and will until somebody changes something.
  var isRefusal = false
  /// How long the receiver asks to be left alone, at most `retryAfterMax`; nil if it does not ask.
  var retryAfter: Duration?
  /// The status or the failure, in words.
  public var text: String
}

extension AlertAttempt {
  /// Of Retry-After. No receiver may silence alerts for longer.
  private static let retryAfterMax: Duration = .hours(1)

  /// The transfer could not be started.
  public init(notStarted failure: TransferFailure) {
    self.init(isAccepted: false, text: failure.rawValue)
  }

  /// Any 2xx accepts a notice. A 4xx is a refusal, except for those that ask for patience (408 and 429, RFC
  /// 9110 §15.5.9 and RFC 6585 §4).
  public init(_ result: TransferResult, now: Timestamp) {
    guard let status = result.status else {
      self.init(
        isAccepted: false, mayHaveArrived: result.requestWasSent,
        text: result.failureText ?? TransferFailure.internalFault.rawValue)
      return
    }
    self.init(
      isAccepted: (200...299).contains(status),
      isRefusal: (400...499).contains(status) && status != 408 && status != 429,
      retryAfter: result.header("Retry-After").flatMap { RetryAfter.duration($0, now: now) }
        .map { min($0, Self.retryAfterMax) },
      text: String(status))
  }
}
