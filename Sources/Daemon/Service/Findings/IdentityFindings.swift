// Which user or app a purchase belongs to: sales that match nobody, users that sources disagree about,
// references that are no users, and sales of something else. Pure; called from any thread.

public import Config
public import Domain
internal import Formats
internal import Platform
internal import Reports
public import Store

extension Finding {
  /// The days that are counted, as the end of a sentence.
  private static let days = "in the last \(IdentityCounts.days) days"

  /// Paid purchases without a user and without a receipt.
  static func unmatched(
    _ count: Int64, app: AppSlug, _ section: String, since: Timestamp
  ) -> Finding? {
    guard count > 0 else { return nil }
    let list = "receiptctl events list --app \(app) --outcome noted --paid"
    let again = "receiptctl events reprocess --app \(app) --outcome noted --paid"
    return Finding(
      .warning, .work, "Paid purchases name no user", .impaired, act: .open("events", ["outcome": "noted"]),
      "\(counted(count, "paid purchase")) of \(app) \(count == 1 ? "names" : "name") no user and made no "
        + "receipt \(days)",
      next: "See: \(list). If they are the app's, say so in \(section).sells, so that they wait for "
        + "their user, or put your user id into their metadata as ply_user_id; if not, name them in "
        + "\(section).except. Then run: receiptctl reload; and for those that have come: \(again)",
      app: app, since: since, alert: .unmatchedPurchases, value: Double(count), commands: [list, again])
  }

  /// Receipts whose sources name different users.
  static func conflicts(_ count: Int64, app: AppSlug, since: Timestamp) -> Finding? {
    guard count > 0 else { return nil }
    let list = "receiptctl receipts list --app \(app) --user-conflict"
    return Finding(
      .warning, .work, "Sources name different users", .impaired,
      act: .open("receipts", ["user_conflict": "yes"]),
      "\(counted(count, "receipt")) of \(app) made \(days) \(count == 1 ? "has" : "have") sources that name "
        + "different users",
      next: "See: \(list), and why with: receiptctl receipts show RECEIPT. One whose user is right needs "
        + "nothing, and is listed for \(IdentityCounts.days) days. If it went to the wrong user: "
        + "receiptctl receipts correct RECEIPT --user USER --why TEXT",
      app: app, since: since, alert: .userConflict, value: Double(count), commands: [list])
  }

  /// Receipts without a user whose checkout has a reference that is no user.
  static func unknownReferences(
    _ count: Int64, app: AppSlug, _ section: String, since: Timestamp
  ) -> Finding? {
    guard count > 0 else { return nil }
    let list = "receiptctl receipts list --app \(app) --reason user"
    return Finding(
      .warning, .work, "Checkouts' references name no known user", .soon,
      act: .open("receipts", ["reason": "user"]),
      "the checkout's reference of \(counted(count, "receipt")) of \(app) made \(days) is no user who posted "
        + "a context, so \(count == 1 ? "it lacks its user" : "they lack their users")",
      next: "See: \(list). To give one its user: receiptctl receipts complete RECEIPT --user USER; if nobody "
        + "knows the user, make a link for the customer of a paid one: receiptctl claims new RECEIPT --why "
        + "TEXT. For later sales, if your pages put order numbers or ids of clicks there, set "
        + "\(section).reference: \"context\"; only if every reference is a user id, \"user\". Then run: "
        + "receiptctl reload",
      app: app, since: since, value: Double(count), commands: [list])
  }

  /// Receipts that wait for a user whom nothing names.
  static func waitingForUser(_ count: Int64, app: AppSlug, since: Timestamp) -> Finding? {
    guard count > 0 else { return nil }
    let list = "receiptctl receipts list --app \(app) --state waiting --reason user"
    return Finding(
      .warning, .work, "Receipts wait for a user", .soon,
      act: .open("receipts", ["state": "waiting", "reason": "user"]),
      "\(counted(count, "receipt")) of \(app) made \(days) \(count == 1 ? "waits" : "wait") for a user, "
        + "because nothing names one that counts",
      next: "See: \(list). To give one its user: receiptctl receipts complete RECEIPT --user USER; if nobody "
        + "knows the user, make a link for the customer of a paid one: receiptctl claims new RECEIPT --why "
        + "TEXT. For later sales, let the checkout name the user: in its client_reference_id, or in its "
        + "metadata as ply_user_id",
      app: app, since: since, value: Double(count), commands: [list])
  }

  /// Sales that the configuration does not name as the app's.
  static func foreign(
    _ counts: IdentityCounts, app: AppSlug, _ section: String, selects: Bool, since: Timestamp
  ) -> Finding? {
    guard counts.foreignEvents > 0 else { return nil }
    let list = "receiptctl events list --app \(app) --outcome foreign"
    let were = counts.foreignEvents == 1 ? "was" : "were"
    let what =
      "\(counted(counts.foreignEvents, "event")) of \(app) \(days) \(were) about sales that are not the app's"
    guard selects, !counts.hasReceipts else {
      return Finding(line: .ok, .work, what, next: "See: \(list)", app: app)
    }
    return Finding(
      .failure, .work, "Nothing matches what the app sells", .losing,
      act: .open("events", ["outcome": "foreign"]),
      "nothing matches \(section).sells: \(what), and no event made a receipt",
      next: "Compare sells with what is sold: \(list), and receiptctl events show EVENT. Correct it, then "
        + "run: receiptctl reload",
      app: app, since: since, value: Double(counts.foreignEvents), commands: [list])
  }

  /// Events of the mode, live or test, that the app does not take, or did not take when they came.
  /// - Parameter leftOut: the mode that is left out now; nil if none is.
  static func otherMode(
    _ count: Int64, app: AppSlug, _ section: String, leftOut: String?, since: Timestamp
  ) -> Finding? {
    guard count > 0 else { return nil }
    let list = "receiptctl events list --app \(app) --outcome other_mode"
    let again = "receiptctl events reprocess --app \(app) --outcome other_mode"
    let were = "\(count == 1 ? "was" : "were") only stored"
    let events = counted(count, leftOut.map { "\($0) event" } ?? "event")
    let isLosing = leftOut == "live"
    let next =
      switch leftOut {
      case "live":
        "If customers pay here, set \(section).livemode: \"live\", then run: receiptctl reload; and for "
          + "those that have come: \(again)"
      case "test":
        "No live payment is lost. To try test payments, use a second app or installation with livemode: "
          + "\"test\". See: \(list)"
      default: "To make receipts of those that are purchases: \(again). See: \(list)"
      }
    return Finding(
      isLosing ? .failure : .warning, .webhooks,
      leftOut.map { "\($0.capitalizedFirst) payments are left out" } ?? "Payments of one mode were left out",
      isLosing ? .losing : leftOut == nil ? .impaired : .soon,
      act: .open("events", ["outcome": "other_mode"]),
      "\(events) of \(app) \(days) \(were)"
        + (leftOut.map { ", because \(section).livemode leaves out \($0) payments" }
          ?? ": livemode left them out when they came"),
      next: next, app: app, since: since, value: Double(count), commands: [leftOut == "test" ? list : again])
  }

  private static func counted(_ count: Int64, _ one: String) -> String {
    (count < IdentityCounts.countMax ? "" : "at least ") + CountText.of(count, one)
  }
}

/// What the database knows of whose the purchases of the last days are. Where it cannot be counted, as on
/// damaged pages, everything else is still shown.
public struct IdentityFindings: Sendable {
  /// Sorted by app.
  public let found: [Finding]
  /// Why they could not be counted; nil if they were.
  public let fault: StoreFault?

  public init(_ apps: [AppConfiguration], _ reader: StoreReader, now: Timestamp) {
    let since = now - .days(IdentityCounts.days)
    var found: [Finding] = []
    do throws(StoreFault) {
      let apps = apps.sorted { $0.slug < $1.slug }
      for (app, (_, counts)) in zip(apps, try reader.identity(apps: apps.map(\.slug), now: now)) {
        let section = app.salesSection
        let selects = app.places.contains { app.rules(of: $0.processor).selects }
        found += [
          Finding.foreign(counts, app: app.slug, section, selects: selects, since: since),
          .otherMode(
            counts.otherModeEvents, app: app.slug, section, leftOut: app.modeLeftOut, since: since),
          .unmatched(counts.unmatched, app: app.slug, section, since: since),
          .conflicts(counts.conflicts, app: app.slug, since: since),
          .unknownReferences(counts.unknownReferences, app: app.slug, section, since: since),
          .waitingForUser(counts.waitingForUser, app: app.slug, since: since),
        ].compactMap(\.self)
      }
      (self.found, fault) = (found, nil)
    } catch {
      (self.found, fault) = ([], error)
    }
  }

  /// The trouble of an app that an alert reports.
  public func finding(_ alert: AlertCondition, app: AppSlug) -> Finding? {
    found.first { $0.alert == alert && $0.app == app }
  }
}
