// The pages of Stripe's dashboard. Their URLs are not part of Stripe's API: if one changes, Stripe shows its
// own page for what it does not find. Pure; any thread.

internal import Formats
internal import Domain

extension StripeProcessor {
  private static let portal = "https://dashboard.stripe.com"
  /// The beginnings of ids with a page, and its folder.
  private static let portalFolders = [
    ("sub_", "subscriptions"), ("cus_", "customers"), ("pi_", "payments"), ("ch_", "payments"),
    ("in_", "invoices"), ("evt_", "events"), ("price_", "prices"), ("prod_", "products"),
  ]
  private static let testSession = "cs_test_"

  public func portalPage(of id: String, beside others: [String]) -> String? {
    let isPlain = id.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
    }
    guard isPlain, id.utf8.count <= UntrustedText.identifierBytesMax else { return nil }
    // Only a checkout session's id shows its mode.
    let isTest = isOfTestMode || ([id] + others).contains { $0.hasPrefix(Self.testSession) }
    let base = isTest ? "\(Self.portal)/test" : Self.portal
    if id.hasPrefix("cs_") { return "\(base)/search?query=\(id)" }
    return Self.portalFolders.first { id.hasPrefix($0.0) }.map { "\(base)/\($0.1)/\(id)" }
  }
}
