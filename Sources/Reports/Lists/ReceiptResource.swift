// The list of receipts. Pure, but for reading it; called from any thread.

public import Domain
internal import Formats
public import Store

/// Receipts, newest first.
public enum ReceiptResource {
  /// The fields, and which face shows which of them.
  public static let list = Resource(
    "receipts", one: "receipt", emptyPage: "There are no receipts yet.", fields,
    table: [
      "id", "state", "reason", "app", "processor", "user_id", "object_id", "attempts", "last_status",
      "created_at",
    ],
    page: [
      "id", "state", "last_status", "app", "processor", "user_id", "price_id", "attempts", "created_at",
    ])

  private static let fields: [ListField<PurchaseRecord>] = [
    .id("id") { $0.receipt.map { .receipt($0.id) } }.titled("Receipt", heading: "ID"),
    .app { $0.app }.titled("App", .drops),
    .text("state") { $0.receipt?.state.rawValue }.titled("State") { record in
      record.receipt.map { .state($0.state.rawValue, $0.state.tone, reason: $0.reasonText) }
    },
    .text("reason") { $0.receipt?.reason?.text }.titled("Reason") { record in
      record.receipt?.reasonText.map { .text($0) }
    },
    .id("user_id") { $0.purchase.userID.map { .user($0) } }.titled("User", .long, missing: "not known"),
    .text("processor") { $0.purchase.key.processor.text }.titled("Processor", [.drops, .ifSeveral]),
    .text("object_type") { $0.purchase.key.type.text },
    .id("object_id") { .object($0.purchase.key.id) }.titled("Object", .drops),
    // The content that will be sent; before that is fixed, the values known so far.
    .id("price_id") { ($0.receipt?.priceID ?? $0.purchase.prices.first).map { .price($0) } }
      .titled("Price", .wraps, missing: "not known"),
    .flag("price_mismatch") { $0.receipt?.priceMismatch ?? false },
    .flag("context_disputed") { $0.receipt?.contextDisputed ?? false },
    .text("context_id") { $0.purchase.contextID?.text }, .text("import_id") { $0.receipt?.importID },
    .number("attempts") { $0.receipt?.attempts ?? 0 }.titled("Attempts", .drops),
    .number("last_status") { $0.receipt?.lastStatus }.titled("Last answer", heading: "LAST", .drops),
    .text("last_cause") { $0.receipt?.lastCause?.text },
    .time("created_at") { $0.receipt?.createdAt }.titled("Made"),
    .time("ready_at") { $0.receipt?.readyAt }, .time("next_attempt_at") { $0.receipt?.nextAttemptAt },
    .time("delivered_at") { $0.receipt?.deliveredAt }, .time("updated_at") { $0.updatedAt },
    .flag("user_conflict") { $0.purchase.userConflict },
    .text("corrects") { $0.receipt?.corrects?.text }, .text("corrected_by") { $0.receipt?.correctedBy?.text },
    .text("destination") { ($0.receipt?.copyOf?.destination ?? $0.receipt?.destination)?.text },
    .text("copy_of") { $0.receipt?.copyOf?.receipt.text },
    .text("copied_by") { $0.receipt?.copy?.receipt.text },
  ]
}

extension ReceiptState {
  /// Its emphasis in lists.
  public var tone: Tone {
    switch self {
    case .waiting: .waiting
    case .pending: .pending
    case .delivered: .good
    case .failed: .bad
    case .cancelled: .ended
    }
  }
}

extension ReceiptFilter: ListFilter {
  public static var resource: Resource<PurchaseRecord> { ReceiptResource.list }

  public func read(
    _ reader: StoreReader, limit: Int, now _: Timestamp
  ) throws(StoreFault) -> ListPage<PurchaseRecord, ReceiptID> {
    try reader.receiptPage(self, limit: limit)
  }

  public func total(_ reader: StoreReader) throws(StoreFault) -> ListTotal? { try reader.total(self) }

  public static let rareFields: Set = [
    "join", "cause", "customer", "status", "price", "object", "session", "import-id", "no-import-id",
    "user-conflict",
  ]

  public static let fields: [FilterField<ReceiptFilter>] =
    conditions + FilterField.times("made", since: { $0.since = $1 }, until: { $0.until = $1 })

  private static let conditions: [FilterField<ReceiptFilter>] =
    [
      .app { $0.app = $1 }, .processor { $0.processor = $1 },
      .states { $0.states = $1 },
      .id("user", "USER", "User", "Only those of this user", isPersonal: true) { $0.userID = UserID($1) },
      .id(
        "customer", "CUSTOMER", "Customer", "Only those of this customer of the processor, such as cus_…",
        isPersonal: true
      ) {
        $0.customerID = CustomerID($1)
      },
      FilterField(
        "reason", "REASON", "Reason",
        "Only those with this reason, such as http_422 or user; pending ones whose last attempt failed so"
      ) { filter, text, _ in
        filter.reason = text
        guard let fault = Reason.fault(in: text) else { return nil }
        guard Reason.fault(inCause: text) == nil else { return "is wrong: \(fault)" }
        // A list shows the cause of a receipt that has no reason yet; others have a reason.
        let mayBePending = filter.states.isEmpty || filter.states.contains(.pending)
        return mayBePending ? nil : "only pending receipts have this reason; see --cause \(text)"
      },
      cause(
        "cause",
        "Only those whose last attempt failed with this error, such as timeout, connect_failed or http_503"),
      cause("error", "The same as --cause", original: "cause"),
      .status("Last answer", "Only those whose last answer had this HTTP status: 503, or 5xx for a class") {
        $0.status = $1
      },
      .choice(
        JoinOutcome.self, "join", "Context",
        "Only those that got their context so: exact if an event named it, user if it was the only one of "
          + "the user, guessed if it was one of several, none, or disputed if another purchase names it"
      ) { $0.join = $1 },
      .id("price", "PRICE", "Price", "Only those with this price") { $0.priceID = PriceID($1) },
      .id(
        "object", "ID", "The processor's id",
        "Only those about this object of the processor: a subscription (sub_…), checkout session "
          + "(cs_…) or payment", isPersonal: true
      ) { $0.objectID = ObjectID($1) },
      .id("session", "ID", "Checkout", "Only those that this checkout session sold, cs_…", isPersonal: true) {
        $0.sessionID = SessionID($1)
      },
      .id(
        "import-id", "ID", "Import id", "Only the one that the destination accepted with this id",
        isPersonal: true
      ) {
        $0.importID = $1
      },
      .flag("no-import-id", "No import id", "Only delivered ones whose answer named no import id") {
        $0.lacksImportID = true
      },
      .flag("user-conflict", "Sources disagree", "Only those whose sources name different users") {
        $0.isInConflict = true
      },
    ]

  private static func cause(
    _ name: String, _ help: String, original: String? = nil
  ) -> FilterField<ReceiptFilter> {
    FilterField(name, name.uppercased(), "Last error", help, original: original) { filter, text, _ in
      if let cause = filter.cause, cause != text { return "and '\(cause)' exclude each other" }
      filter.cause = text
      return Reason.fault(inCause: text).map { "is wrong: \($0)" }
    }
  }
}
