// Purchasely's endpoint for user deletion (https://docs.purchasely.com/docs/user-deletion-request). Pure.

internal import Cryptography
public import Domain
internal import Formats

/// `POST https://s2s.purchasely.io/user_deletion_requests`: asks Purchasely to erase a user. Purchasely
/// processes it later. The answer is `{"id": "…"}`; support questions within a week need this id. 50 requests
/// in ten minutes are accepted; after that it answers 429 and blocks for ten minutes.
public struct PurchaselyDeletion: Sendable {
  public let url: String
  public let headers: [(name: String, value: String)]
  public let body: [UInt8]

  /// - Parameters:
  ///   - receiptsURL: the URL of receipts; the endpoint has the same base.
  ///   - clientSecret: the client shared secret of Purchasely's console, which signs the body.
  /// - Throws: `CryptographyError` when libcrypto has no HMAC-SHA256.
  public init(
    userID: UserID, receiptsURL: String, apiKey: String, clientSecret: String, userAgent: String
  ) throws {
    body = JSONValue.object([.init(name: "user_id", value: .string(userID.text))]).serialized()
    url = Self.url(beside: receiptsURL)
    let signature = try HMACSHA256(key: Array(clientSecret.utf8)).authenticationCode(for: body)
    headers = [
      ("Content-Type", "application/json"), ("X-API-KEY", apiKey), ("Authorization", Hex.encode(signature)),
      ("User-Agent", userAgent),
    ]
  }

  /// The same URL with another last path segment.
  static func url(beside receiptsURL: String) -> String {
    let path = receiptsURL.prefix { $0 != "?" }
    let authority = path.firstRange(of: "://").map { path[..<$0.upperBound].endIndex } ?? path.startIndex
    let slash = path[authority...].lastIndex(of: "/")
    return (slash.map { String(path[..<$0]) } ?? String(path)) + "/user_deletion_requests"
  }

  /// The request's id in an answer; nil when there is none.
  public static func requestID(in body: [UInt8]) -> String? {
    // Only for display, so a missing id is no error.
    (JSONDocument.read(body) { $0.member("id")?.string }) ?? nil
  }
}
