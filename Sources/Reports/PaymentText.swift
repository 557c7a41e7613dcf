// What is known of a payment at its processor, as text: its state, its captures, its lookup. Pure; called
// from any thread. Nothing is sanitized or escaped.

public import Domain
internal import Formats
internal import Platform
public import Store

/// The texts about a payment.
public enum PaymentText {
  /// The events that a command names, the newest.
  private static let eventsMax = 10

  /// The state of a purchase that has no receipt, as the end of a sentence.
  public static func state(of purchase: Purchase) -> String {
    if purchase.awaitsOutcome { return "the payment was started, and its outcome is not known" }
    if purchase.isPaid { return "it is paid, and no user of the app is known" }
    if purchase.observations.contains(.closed) { return "the payment ended without money" }
    if purchase.observations.contains(.expired) { return "the checkout expired" }
    if purchase.observations.contains(.ended) { return "it ended before it was paid" }
    return "it is not paid"
  }

  /// The amount of a payment that the processor or the app named; nil if there is none.
  static func amount(of purchase: Purchase) -> String? {
    guard let payment = purchase.payment, let amount = payment.amount else { return nil }
    let state =
      switch payment.isCaptured {
      case true?: ", captured"
      case false?: ", authorised and not captured"
      case nil: ""
      }
    return amount + (payment.currency.map { " \($0)" } ?? "") + state
  }

  /// `ordered at 08:30 UTC, its outcome is unknown after 2 failures (timeout); the next call is due at …`
  static func capture(_ capture: CaptureSummary, now: Timestamp) -> String {
    if let meaning = meaning(of: capture) {
      return (capture.endedAt.map { "ended at \($0.clock(today: now)): " } ?? "") + meaning
    }
    let ordered = "ordered at \(capture.orderedAt.clock(today: now))"
    guard capture.failures > 0 else { return "\(ordered), under way" }
    let trouble = capture.lastTrouble.map { " (\($0))" } ?? ""
    return "\(ordered), its outcome is unknown after \(CountText.of(capture.failures, "failure"))\(trouble); "
      + "the next call is due at \(capture.retryAt.clock(today: now))"
  }

  /// The meaning of a capture's outcome; nil while it is unknown.
  static func meaning(of capture: CaptureSummary) -> String? {
    switch capture.outcome {
    case nil: nil
    case .captured: "the customer was charged"
    case .declined: "the processor declined the payment"
    case .refused: "the processor refused it: nothing was captured"
    case .unconfirmed: "the customer had not confirmed the payment: nothing was captured"
    case .abandoned:
      capture.isRefused
        ? "receiptd gave it up, because the processor refused it"
        : "receiptd gave it up, and its outcome is unknown"
    }
  }

  /// When the processor is asked again, and how often it was without success.
  static func lookup(_ lookup: PlannedLookup, now: Timestamp) -> String {
    guard let dueAt = lookup.dueAt else {
      return "given up after a week: the processor gave no usable answer "
        + CountText.of(lookup.attempts, "time")
    }
    let planned = "planned for \(dueAt.clock(today: now))"
    guard lookup.attempts > 0 else { return planned }
    return lookup.isFetch
      ? "\(planned) (the processor gave no usable answer \(CountText.of(lookup.attempts, "time")) so far)"
      : "\(planned) (\(CountText.of(lookup.attempts, "answer")) did not help so far)"
  }

  /// What an operator can do about a payment that has no receipt, or whose capture has no outcome. Empty if
  /// there is nothing to do.
  /// - Parameter label: the processor's display name; nil if the app is not configured with it.
  public static func advice(_ detail: ReceiptDetail, label: String?) -> [String] {
    let purchase = detail.record.purchase
    if detail.record.receipt != nil, detail.captures.isEmpty { return [] }
    guard let label else {
      let place = "apps.\(detail.record.app).\(purchase.key.processor)"
      return ["\(place) is not in the configuration, so nothing is asked or captured. Configure it again."]
    }
    let ask = "To ask \(label) now: receiptctl payments fetch \(purchase.key.id)"
    switch detail.captures.last {
    case .some(let capture) where capture.outcome == nil:
      return [
        "The capture is finished as soon as \(label) answers; the customer is charged at most once. Do not "
          + "charge again."
      ]
    case .some(let capture)
    where capture.outcome == .abandoned && purchase.isPaid && purchase.isCaptureInDoubt:
      let state =
        capture.isRefused
        ? "\(label) refused to capture the money" : "Nobody knows whether the money was captured"
      return [
        "\(state), and receiptd does not capture it any more. Look for the payment in \(label)'s portal; "
          + "if it is only authorised there, capture it there. \(ask). "
          + "Once it is captured or released, payments list does not show it any more."
      ]
    case .some(let capture) where capture.outcome == .abandoned && purchase.awaitsOutcome:
      return [
        "Nobody knows whether the customer was charged. Look for the payment in \(label)'s portal. \(ask). "
          + "If it is paid there, this makes the receipt; if it is not, the app may start another payment."
      ]
    default: break
    }
    if detail.record.receipt != nil { return [] }
    guard purchase.awaitsOutcome else { return [missing(detail)].compactMap(\.self) }
    return [
      detail.lookup?.dueAt == nil
        ? "It makes a receipt when it is paid. \(label) is not asked any more, because a week has passed. "
          + ask
        : "It makes a receipt when it is paid. \(ask)"
    ]
  }

  /// What makes a receipt of a purchase that has none and whose outcome is known; nil if nothing does.
  private static func missing(_ detail: ReceiptDetail) -> String? {
    let (app, purchase) = (detail.record.app, detail.record.purchase)
    let (seen, section) = (purchase.observations, "apps.\(app).\(purchase.key.processor)")
    // What is missing may have happened before the first event of it came.
    let since = (purchase.createdAt - .hours(1)).rfc3339
    let fetch = "receiptctl events backfill --app \(app) --since \(since)"
    let unused = detail.events.filter { $0.outcome != EventOutcome.receipt.rawValue }.suffix(eventsMax)
    let ids = unused.map(\.id.text).joined(separator: " ")
    let again = "receiptctl reload; and then: \(ids.isEmpty ? fetch : "receiptctl events reprocess \(ids)")"
    if purchase.isErased { return nil }
    if seen.contains(.excepted) {
      return "An event that `except` matched excludes it for good. To let later sales through, correct "
        + "\(section).except, then run: receiptctl reload"
    }
    if purchase.isForeign { return "If it is the app's, add it to \(section).sells, then run: \(again)" }
    guard purchase.isPaid else { return "It makes a receipt if it is paid by a user of the app." }
    if purchase.hasEnded { return "It ended without a receipt, and gets none any more." }
    guard seen.decideSale else {
      return "No event says yet whether it is the app's. To fetch those that are missing: \(fetch)"
    }
    return "If it is the app's, say so in \(section).sells, so that it waits for its user, then run: "
      + "\(again). Or put your user id into its metadata as ply_user_id: its next event then names the user."
  }
}

/// The unfinished lookups and captures of an app at a processor, as one line.
public struct UnfinishedText: Sendable, Equatable {
  public let sentence: String
  /// Whether an operator should look at it.
  public let isBad: Bool

  /// - Returns: nil if there is nothing unfinished.
  public init?(_ work: UnfinishedWork, of place: AppProcessor, now: Timestamp) {
    var parts: [String] = []
    func number(_ count: Int64, _ noun: String) -> String {
      CountText.of(count, noun) + (count >= UnfinishedWork.countMax ? " or more" : "")
    }
    if work.lookups > 0 {
      let unanswered = work.unansweredLookups
      parts.append(
        number(work.lookups, "lookup") + " planned"
          + (unanswered > 0 ? ", \(CountText.grouped(unanswered)) of them without an answer" : ""))
    }
    if work.abandonedLookups > 0 {
      parts.append(number(work.abandonedLookups, "payment") + " not fetched any more")
    }
    if work.openCaptures > 0 {
      let since = work.oldestCapture.map { ", the oldest ordered \($0.past(to: now))" } ?? ""
      parts.append(
        number(work.openCaptures, "capture") + " open"
          + (work.unknownCaptures > 0
            ? ", \(CountText.grouped(work.unknownCaptures)) of them with an unknown outcome" : "") + since)
    }
    if work.abandonedCaptures > 0 {
      parts.append(number(work.abandonedCaptures, "capture") + " given up")
    }
    guard !parts.isEmpty else { return nil }
    sentence = "\(place.app) at \(place.processor): \(parts.joined(separator: "; "))."
    isBad = work.unknownCaptures > 0 || work.abandonedCaptures > 0 || work.abandonedLookups > 0
  }

  /// The command that lists the payments.
  public static let command = "receiptctl payments list"
}
