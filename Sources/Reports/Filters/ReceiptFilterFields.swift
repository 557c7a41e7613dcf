// The conditions by which receipts are filtered. Pure; called from any thread.

internal import Domain
public import Store

extension ReceiptFilter: ListFilter {
  public static let fields: [FilterField<ReceiptFilter>] =
    conditions + FilterField.times("made", since: { $0.since = $1 }, until: { $0.until = $1 })

  private static let conditions: [FilterField<ReceiptFilter>] =
    [
      .app { $0.app = $1 }, .processor { $0.processor = $1 },
      .choice(ReceiptState.self, "state", "State", "Only those in this state") { $0.state = $1 },
      .id("user", "USER", "User", "Only those of this user", isPersonal: true) { $0.userID = UserID($1) },
      .id(
        "customer", "CUSTOMER", "Customer", "Only those of this customer of the processor, such as cus_…",
        isPersonal: true
      ) {
        $0.customerID = CustomerID($1)
      },
      FilterField("reason", "REASON", "Reason", "Only those with this reason, such as http_422 or user") {
        filter, text, _ in
        filter.reason = text
        return Reason.fault(in: text).map { "is wrong: \($0)" }
      },
      cause(
        "cause", "Only those whose last attempt failed so, such as timeout, connect_failed or http_503"),
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
