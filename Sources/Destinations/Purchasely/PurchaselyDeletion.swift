// Purchasely's endpoint for the erasure of a user (https://docs.purchasely.com/docs/user-deletion-request).
// Pure.

internal import Cryptography
internal import JSON

/// `POST https://s2s.purchasely.io/user_deletion_requests`: asks Purchasely to forget a user. It is processed
/// later; the answer, `{"id": "…"}`, is what its support asks for, within a week. 50 requests in ten minutes
/// are taken; beyond that it answers 429 and blocks for ten minutes.
public struct PurchaselyDeletion: Sendable {
  public let url: String
  public let headers: [(name: String, value: String)]
  public let body: [UInt8]

  /// - Parameters:
  ///   - receiptsURL: where receipts go; the endpoint stands beside it.
  ///   - clientSecret: the client shared secret of Purchasely's console, which signs the body.
  /// - Throws: `CryptographyError` when libcrypto has no HMAC-SHA256.
  public init(
    userID: String, receiptsURL: String, apiKey: String, clientSecret: String, userAgent: String
  ) throws {
    body = JSONValue.object([.init(name: "user_id", value: .string(userID))]).serialized()
    url = Self.url(beside: receiptsURL)
    let signature = try HMACSHA256(key: Array(clientSecret.utf8)).authenticationCode(for: body)
    headers = [
      ("Content-Type", "application/json"), ("X-API-KEY", apiKey), ("Authorization", Hex.encode(signature)),
      ("User-Agent", userAgent),
    ]
  }

  /// The same address with another last segment of its path.
  static func url(beside receiptsURL: String) -> String {
    let path = receiptsURL.prefix { $0 != "?" }
    let authority = path.firstRange(of: "://").map { path[..<$0.upperBound].endIndex } ?? path.startIndex
    let slash = path[authority...].lastIndex(of: "/")
    return (slash.map { String(path[..<$0]) } ?? String(path)) + "/user_deletion_requests"
  }

  /// The request's id in an answer; nil when there is none.
  public static func requestID(in body: [UInt8]) -> String? {
    // Shown to a person; without one there is nothing to show.
    (JSONDocument.read(body) { $0.member("id")?.string }) ?? nil
  }
}
