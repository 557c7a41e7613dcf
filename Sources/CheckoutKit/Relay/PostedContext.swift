// The relay's response to a posted context. Unknown fields are ignored, because a newer relay may add some.
// Pure; thread-safe.

public import Foundation

/// A context that the relay has stored.
public struct PostedContext: Sendable, Hashable {
  /// `ctx_…`: identifies the checkout. It is a secret: any caller that has it can read the checkout's state,
  /// so do not show it.
  public let contextID: String
  /// The user for whom it was posted.
  public let userID: String
  /// The price in the context.
  public let stripePriceID: String?
  /// When the relay first received it.
  public let receivedAt: Date?
  /// When it stops waiting for its purchase.
  public let expiresAt: Date?
  /// The URL of the checkout's status.
  public let statusURL: URL?
  /// The checkout page for the price, to be opened in the browser; nil when none is configured.
  public let checkoutURL: URL?
  /// Whether the relay already had it: the same context of the same user, not used yet.
  public let isRepeat: Bool
}

extension PostedContext {
  private struct Document: Decodable {
    let context_id: String
    let user_id: String
    let stripe_price_id: String?
    let received_at: String?
    let expires_at: String?
    let status_url: String?
    let checkout_url: String?
  }

  /// - Returns: nil when the body is not a context.
  init?(status: Int, body: Data, relay: URL) {
    guard let document = try? JSONDecoder().decode(Document.self, from: body) else {
      return nil  // The caller has the body and reports it.
    }
    contextID = document.context_id
    userID = document.user_id
    stripePriceID = document.stripe_price_id
    receivedAt = document.received_at.flatMap(RFC3339.date)
    expiresAt = document.expires_at.flatMap(RFC3339.date)
    statusURL = document.status_url.flatMap { URL(string: $0, relativeTo: relay)?.absoluteURL }
    // Only a web page: the relay must not open another app.
    checkoutURL = document.checkout_url.flatMap { URL(string: $0) }.flatMap {
      ExternalLink($0) == .browser ? $0 : nil
    }
    isRepeat = status == 200
  }
}

/// Timestamps in the relay's format.
enum RFC3339 {
  /// - Returns: nil when the text is not a timestamp.
  static func date(_ text: String) -> Date? {
    let format = ISO8601DateFormatter()
    format.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    if let date = format.date(from: text) { return date }
    format.formatOptions = .withInternetDateTime
    return format.date(from: text)
  }
}
