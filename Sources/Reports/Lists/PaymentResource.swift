// The list of payments whose outcome the processor has not confirmed, which has one page. Pure; called from
// any thread.

internal import Domain
internal import Formats
public import Store

/// Payments whose outcome the processor has not confirmed.
public enum PaymentResource {
  /// The fields, and which face shows which of them.
  public static let list = Resource(
    "payments", one: "payment", emptyTable: "No payment has an unknown outcome.", fields,
    table: ["id", "app", "processor", "user_id", "what", "since", "failures", "next_call_at"])

  private static let fields: [ListField<TroubledPayment>] = [
    .id("id") { .object($0.objectID) }.titled("Object"), .app { $0.place.app }.titled("App"),
    .text("processor") { $0.place.processor.text }.titled("Processor"),
    .id("user_id") { $0.userID.map { .user($0) } }.titled("User", .long),
    .text("receipt_id") { $0.receiptID?.text },
    .text("what") { $0.kind.rawValue }.titled("What") { payment in
      .text(payment.kind.text, payment.kind.isGivenUp ? .bad : .plain)
    },
    .time("since") { $0.since }.titled("Since"), .number("failures") { $0.failures }.titled("Failures"),
    .time("next_call_at") { $0.nextAt }.titled("Next call"),
  ]
}

extension TroubledPayment.Kind {
  /// As receiptctl's table shows it; other programs get the raw value.
  fileprivate var text: String {
    switch self {
    case .captureOpen: "capture open"
    case .captureAbandoned: "capture given up"
    case .lookupUnanswered: "no answer"
    case .lookupAbandoned: "not fetched any more"
    }
  }

  /// Whether nothing happens until an operator acts.
  fileprivate var isGivenUp: Bool { self == .captureAbandoned || self == .lookupAbandoned }
}
