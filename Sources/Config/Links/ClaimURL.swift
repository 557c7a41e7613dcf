// The links with which customers claim purchases. Pure; any thread.

public import Domain
internal import Formats

extension AppConfiguration.Links {
  /// The path of a claim's page, which opens the app.
  public static func claimPath(_ token: ClaimToken, slug: AppSlug) -> String {
    "/v1/\(slug)/claim/\(token.text)"
  }

  /// The URL of a claim's page.
  public func claimURL(_ token: ClaimToken, slug: AppSlug) -> String {
    origin.text + Self.claimPath(token, slug: slug)
  }

  /// Whether the link of a claim opens the app on Apple's systems, and not the page.
  public func opensClaim(_ token: ClaimToken, slug: AppSlug) -> Bool {
    linkedApp(slug: slug)?.opens(Self.claimPath(token, slug: slug)) ?? false
  }
}
