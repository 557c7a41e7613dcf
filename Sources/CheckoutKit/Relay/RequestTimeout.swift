// How long the kit waits for an answer. Values.

import Foundation

/// The time for an attempt of a request, in seconds. Each is longer than what the relay gives the processor
/// behind it, so that the customer gets the relay's answer, not a time-out.
enum RequestTimeout {
  /// A post, over a slow network. The first attempt has ``RetryPolicy/firstTimeout``.
  static let post: TimeInterval = 30
  /// A status, besides the time that the relay may hold the request (`wait`).
  static let status: TimeInterval = 15
  /// Starting a payment: the relay gives Afterpay 10 s for the connection and 20 s for the answer, and
  /// Swedbank Pay 20 s by default.
  static let payment: TimeInterval = 45
  /// A capture: the relay gives Afterpay 10 s for the connection and 70 s for the answer.
  static let captureMax: TimeInterval = 100
}
