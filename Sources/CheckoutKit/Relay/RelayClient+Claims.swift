// Claims a purchase without a user for the signed-in user. Called from any task.

internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// What became of a claim.
public enum ClaimResult: String, Sendable, Hashable, CaseIterable {
  /// The purchase is this user's now, and is passed on.
  case claimed
  /// This user had claimed it before.
  case replay
  /// Another user has claimed it, or it belongs to one.
  case otherUser
  /// The link has expired or was revoked, or the purchase ended: only the merchant's support can help.
  case expired
  /// The relay has never made this link.
  case unknown
  /// There is no network, or the relay is busy: keep the link, and try again later.
  case retryLater

  /// Whether the link is of no more use.
  public var isFinal: Bool { self != .retryLater }
}

extension RelayClient {
  /// Claims a purchase for the signed-in user. Ask first: "Add this purchase to your account?" It can be sent
  /// again: the first claim wins, and repeating it has no effect.
  /// - Parameters:
  ///   - link: the link that opened the app.
  ///   - userID: the signed-in user's id in the Purchasely SDK, never an anonymous one.
  /// - Throws: ``RelayError`` if the relay did not decide, and trying again alone does not help: a wrong key,
  ///   or an answer that is not the relay's.
  public func claim(_ link: ClaimLink, userID: String) async throws(RelayError) -> ClaimResult {
    let request = try request("claims", of: userID, posting: ["token": link.token])
    do throws(RelayError) {
      let answer = try await send(request)
      // Of another origin, such as a captive portal's page.
      guard let document = try? JSONDecoder().decode(ClaimAnswer.self, from: answer.body) else {
        throw answer.unexpected
      }
      return document.replay == true ? .replay : .claimed
    } catch {
      if error.isTransient { return .retryLater }
      switch (error.status, error.problemName) {
      case (409, "claimed-by-another-user"): return .otherUser
      case (410, .some): return .expired
      case (404, "unknown-claim"): return .unknown
      default: throw error
      }
    }
  }
}

/// The members that show that an answer is the relay's.
private struct ClaimAnswer: Decodable {
  let status_url: String
  let replay: Bool?
}
