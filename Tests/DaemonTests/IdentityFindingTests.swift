// Tests the findings about whose the purchases are: what they say, when a foreign sale is a failure, and
// which alert reports them.

import Config
import Domain
import Store
import Testing

@testable import Service

@Suite("Findings about whose the purchases are")
struct IdentityFindingTests {
  private let since = Timestamp(unixMilliseconds: 1_800_000_000_000)

  private func foreign(_ count: Int64, selects: Bool, hasReceipts: Bool) -> Finding? {
    var counts = IdentityCounts()
    (counts.foreignEvents, counts.hasReceipts) = (count, hasReceipts)
    return .foreign(counts, app: "ios", "apps.ios.stripe", selects: selects, since: since)
  }

  @Test func `Nothing is found where nothing was counted`() {
    #expect(Finding.unmatched(0, app: "ios", "apps.ios.stripe", since: since) == nil)
    #expect(Finding.conflicts(0, app: "ios", since: since) == nil)
    #expect(Finding.unknownReferences(0, app: "ios", "apps.ios.stripe", since: since) == nil)
    #expect(Finding.waitingForUser(0, app: "ios", since: since) == nil)
    #expect(foreign(0, selects: true, hasReceipts: false) == nil)
  }

  @Test func `Sales that match nobody name the remedy and the list`() throws {
    let found = try #require(Finding.unmatched(2, app: "ios", "apps.ios.stripe", since: since))
    #expect(found.alert == .unmatchedPurchases)
    #expect(found.what == "2 paid purchases of ios name no user and made no receipt in the last 7 days")
    #expect(found.next?.contains("apps.ios.stripe.sells") == true)
    let again = "receiptctl events reprocess --app ios --outcome noted --paid"
    #expect(found.commands == ["receiptctl events list --app ios --outcome noted --paid", again])
    #expect(found.next?.hasSuffix("receiptctl reload; and for those that have come: \(again)") == true)
  }

  @Test func `Sources that disagree say how to correct a receipt`() throws {
    let found = try #require(Finding.conflicts(1, app: "ios", since: since))
    #expect(found.alert == .userConflict)
    #expect(found.what == "1 receipt of ios made in the last 7 days has sources that name different users")
    #expect(found.next?.contains("receiptctl receipts correct RECEIPT --user USER --why TEXT") == true)
    #expect(found.next?.contains("One whose user is right needs nothing, and is listed for 7 days") == true)
  }

  @Test func `Unknown references name the remedy before the setting; a full count is a minimum`() throws {
    let found = try #require(
      Finding.unknownReferences(IdentityCounts.countMax, app: "ios", "apps.ios.stripe", since: since))
    #expect(found.what.contains("at least 1,000 receipts of ios"))
    let parts = ["complete RECEIPT --user", "claims new RECEIPT --why TEXT", "apps.ios.stripe.reference"]
    let places = parts.compactMap { found.next?.firstRange(of: $0)?.lowerBound }
    #expect(places.count == parts.count)
    #expect(places == places.sorted())
    #expect(found.next?.hasSuffix("receiptctl reload") == true)
  }

  @Test func `Receipts that wait for a user name the list and both remedies`() throws {
    let found = try #require(Finding.waitingForUser(1, app: "ios", since: since))
    #expect(
      found.what
        == "1 receipt of ios made in the last 7 days waits for a user, because nothing names one that counts")
    #expect(found.commands == ["receiptctl receipts list --app ios --state waiting --reason user"])
    #expect(found.next?.contains("receiptctl receipts complete RECEIPT --user USER") == true)
    #expect(found.next?.contains("receiptctl claims new RECEIPT --why TEXT") == true)
  }

  @Test func `Sales of something else are well, unless nothing matches what the app sells`() throws {
    #expect(foreign(3, selects: true, hasReceipts: true)?.level == .ok)
    #expect(foreign(3, selects: false, hasReceipts: false)?.level == .ok)
    let lost = try #require(foreign(3, selects: true, hasReceipts: false))
    #expect(lost.level == .failure)
    #expect(lost.what.hasPrefix("nothing matches apps.ios.stripe.sells"))
  }

  @Test func `Live payments that are left out are a failure, test payments a warning`() throws {
    func found(_ leftOut: String?) throws -> Finding {
      try #require(Finding.otherMode(2, app: "ios", "apps.ios.stripe", leftOut: leftOut, since: since))
    }
    let again = "receiptctl events reprocess --app ios --outcome other_mode"
    let live = try found("live")
    #expect(live.level == .failure)
    #expect(
      live.what
        == "2 live events of ios in the last 7 days were only stored, because apps.ios.stripe.livemode "
        + "leaves out live payments")
    #expect(live.next?.contains("livemode: \"live\", then run: receiptctl reload") == true)
    #expect(live.commands == [again])
    let test = try found("test")
    #expect(test.level == .warning)
    #expect(test.next?.hasPrefix("No live payment is lost") == true)
    let earlier = try found(nil)
    #expect(earlier.level == .warning)
    #expect(earlier.next?.contains(again) == true)
  }

  @Test func `Thin events advise the payload style Snapshot`() throws {
    let thin = try #require(
      Finding.events(of: "ios", ["v1.checkout.session.completed: thin payload": 1], since: since))
    #expect(thin.alert == .unreadableEvents)
    #expect(thin.next?.contains("payload style Snapshot") == true)
    let other = try #require(Finding.events(of: "ios", ["a: data.object": 1], since: since))
    #expect(other.next?.contains("Snapshot") == false)
  }
}
