// The list of payments whose outcome the processor has not confirmed. Pure, but for reading it; called from
// any thread.

public import Domain
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

/// Which payments to list. There is one page: a payment leaves the list while it is read.
public struct PaymentFilter: ListFilter {
  public var app: AppSlug?
  public var processor: ProcessorName?
  /// Where to look: the apps with their processors.
  public var places: [AppProcessor] = []

  public init() {}

  public static var resource: Resource<TroubledPayment> { PaymentResource.list }
  public static var hasPages: Bool { false }
  public static let fields: [FilterField<PaymentFilter>] = [
    .app { $0.app = $1 }, .processor { $0.processor = $1 },
  ]

  public var after: Int64? {
    get { nil }
    set {}
  }

  /// - Parameter limit: of each app, processor and kind.
  public func read(
    _ reader: StoreReader, limit: Int, now _: Timestamp
  ) throws(StoreFault) -> ListPage<TroubledPayment, Int64> {
    var page = ListPage<TroubledPayment, Int64>([], next: nil)
    var isCut = false
    for place in places where [nil, place.app].contains(app) && [nil, place.processor].contains(processor) {
      let found = try reader.troubledPayments(place, limit: limit + 1)
      for kind in TroubledPayment.Kind.allCases {
        let ofKind = found.filter { $0.kind == kind }
        isCut = isCut || ofKind.count > limit
        page.entries += ofKind.prefix(limit)
      }
    }
    if isCut { page.compared = page.entries.count }
    return page
  }
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
