// What the relay answers. Read leniently: fields that a newer relay adds do not matter. Pure; any thread.

public import Foundation

/// A context that the relay has.
public struct PostedContext: Sendable, Hashable {
  /// `ctx_…`: names the checkout. Who has it can ask for the checkout's state, so do not show it.
  public let contextID: String
  /// The user that it was posted for.
  public let userID: String
  /// The price in it.
  public let stripePriceID: String?
  /// When the relay first took it.
  public let receivedAt: Date?
  /// Until when it waits for its purchase.
  public let expiresAt: Date?
  /// Where the state of the checkout is.
  public let statusURL: URL?
  /// The checkout page for its price, to be opened in the browser; nil when the relay has none configured.
  public let checkoutURL: URL?
  /// Whether the relay had it already: the same context of the same user, not used yet.
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

  /// - Returns: nil when the body is no context.
  init?(status: Int, body: Data, relay: URL) {
    guard let document = try? JSONDecoder().decode(Document.self, from: body) else {
      return nil  // The caller has the body, and tells.
    }
    contextID = document.context_id
    userID = document.user_id
    stripePriceID = document.stripe_price_id
    receivedAt = document.received_at.flatMap(RFC3339.date)
    expiresAt = document.expires_at.flatMap(RFC3339.date)
    statusURL = document.status_url.flatMap { URL(string: $0, relativeTo: relay)?.absoluteURL }
    // A page for the browser, never a link into some app.
    checkoutURL = document.checkout_url.flatMap { URL(string: $0) }.flatMap {
      ExternalLink($0) == .browser ? $0 : nil
    }
    isRepeat = status == 200
  }
}

/// Times as the relay writes them.
enum RFC3339 {
  /// - Returns: nil when it is none.
  static func date(_ text: String) -> Date? {
    let format = ISO8601DateFormatter()
    format.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    if let date = format.date(from: text) { return date }
    format.formatOptions = .withInternetDateTime
    return format.date(from: text)
  }
}
