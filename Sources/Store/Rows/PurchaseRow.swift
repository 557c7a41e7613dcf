// The columns of a `PurchaseRecord`: one list of names, one reader and one writer, in the same order.

internal import Domain
internal import Formats

enum PurchaseRow {
  /// `row_id` is first; `record(from:)` and `values(of:)` follow this order.
  static let columns = [
    "row_id", "app", "object_type", "object_id", "session_id", "observations", "customer_id", "user_id",
    "user_source", "prices", "prices_of_checkout", "context_id", "ply_context", "context_price_id",
    "happened_at",
    "first_seen_at", "bought_at", "updated_at", "receipt_id", "state", "reason", "wait_until", "price_id",
    "price_mismatch", "body", "attempts", "spent_tries", "last_status", "import_id", "created_at", "ready_at",
    "retry_since", "paused_base_ms", "next_attempt_at", "delivered_at", "note", "last_cause", "is_replay",
    "context_source", "context_disputed", "processor", "destination", "is_reversal", "payment", "dictionary",
    "context_at", "context_candidates", "corrects", "corrected_by",
    "other_names", "user_conflict", "unmatched", "copy_of", "copy_for", "copied_by", "copied_for",
  ]
  static let columnList = columns.joined(separator: ", ")
  /// For `listed`.
  static let listedColumns = columns.map { StoredContent.presenceColumns[$0] ?? $0 }.joined(separator: ", ")

  /// The destinations of an app's pending receipts, one seek in `purchases_due` for each.
  static let pendingDestinationsSQL = """
    WITH RECURSIVE targets(name) AS (
      SELECT min(destination) FROM purchases WHERE app = ?1 AND state = 'pending'
      UNION ALL
      SELECT (SELECT min(destination) FROM purchases
              WHERE app = ?1 AND state = 'pending' AND destination > targets.name)
      FROM targets WHERE targets.name IS NOT NULL)
    """
  static let namesOfPendingSQL = "\(pendingDestinationsSQL) SELECT name FROM targets WHERE name IS NOT NULL"

  static let insertSQL: String = {
    let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    return "INSERT INTO purchases (\(columnList)) VALUES (\(places))"
  }()

  /// The last parameter is the state that was read, because a change of a receipt depends on its state.
  static let updateSQL: String = {
    let settings = columns.enumerated().dropFirst().map { "\($1) = ?\($0 + 1)" }.joined(separator: ", ")
    return "UPDATE purchases SET \(settings) WHERE row_id = ?1 AND state IS ?\(columns.count + 1)"
  }()

  /// The columns of a receipt that change after it is made.
  private static let deliveryColumns = [
    "updated_at", "state", "reason", "wait_until", "attempts", "spent_tries", "last_status", "import_id",
    "retry_since", "paused_base_ms", "next_attempt_at", "delivered_at", "note", "last_cause", "is_replay",
  ]

  static let updateDeliverySQL: String = {
    let settings = deliveryColumns.enumerated().map { "\($1) = ?\($0 + 1)" }.joined(separator: ", ")
    let count = deliveryColumns.count
    return "UPDATE purchases SET \(settings) WHERE row_id = ?\(count + 1) AND state = ?\(count + 2)"
  }()

  /// The values for `updateDeliverySQL`; nil if other columns differ, too.
  static func deliveryValues(of record: PurchaseRecord, from old: PurchaseRecord) -> [StoreValue]? {
    guard let before = old.receipt, let receipt = record.receipt, record.app == old.app,
      record.purchase == old.purchase, before.hasContent(of: receipt)
    else { return nil }
    return [
      .time(record.updatedAt), .text(receipt.state.rawValue), .optional(receipt.reason?.text),
      .time(receipt.waitUntil), .integer(receipt.attempts), .integer(receipt.spentAttempts),
      .optional(receipt.lastStatus), .optional(receipt.importID), .time(receipt.retrySince),
      .duration(receipt.pausedBase), .time(receipt.nextAttemptAt), .time(receipt.deliveredAt),
      .optional(receipt.note), .optional(receipt.lastCause?.text), .flag(receipt.isReplay),
      .integer(record.rowID), .text(before.state.rawValue),
    ]
  }

  static let updateWaitSQL = """
    UPDATE purchases SET updated_at = ?1, wait_until = ?2 WHERE row_id = ?3 AND state = 'waiting'
    """

  /// The values for `updateWaitSQL`; nil if other columns differ, too.
  static func waitValues(of record: PurchaseRecord, from old: PurchaseRecord) -> [StoreValue]? {
    guard let before = old.receipt, let receipt = record.receipt, receipt.state == .waiting,
      receipt.equalsExceptWait(before), record.app == old.app, record.purchase == old.purchase
    else { return nil }
    return [.time(record.updatedAt), .time(receipt.waitUntil), .integer(record.rowID)]
  }

  /// A purchase whose columns are `columns`.
  static func record(_ row: StoreRow) throws(StoreFault) -> PurchaseRecord {
    try record(from: row, content: try StoredContent(row).read())
  }

  /// A purchase whose columns are `listedColumns`: its content is empty.
  static func listed(_ row: StoreRow) throws(StoreFault) -> PurchaseRecord {
    try record(from: row, content: StoredContent.presence(row))
  }

  /// The same as `record`, with empty content if the content cannot be read. For callers that do not need it.
  static func recordWithoutContent(_ row: StoreRow) throws(StoreFault) -> PurchaseRecord {
    let stored = try StoredContent(row)
    do throws(StoreFault) {
      return try record(from: row, content: stored.read())
    } catch {
      guard error.kind == .corrupt else { throw error }
      return try record(from: row, content: stored.placeholder)
    }
  }

  /// - Parameter content: of the same row.
  static func record(
    from row: StoreRow, content: StoredContent.Content
  ) throws(StoreFault) -> PurchaseRecord {
    let purchase = try purchase(from: row, blob: content.context)
    return PurchaseRecord(
      rowID: row.integer(0), app: try row.text(1), purchase: purchase,
      receipt: try receipt(from: row, body: content.body),
      updatedAt: Timestamp(unixMilliseconds: row.integer(17)))
  }

  private static func purchase(from row: StoreRow, blob: String?) throws(StoreFault) -> Purchase {
    let key = PurchaseKey(processor: try row.text(40), type: try row.text(2), id: try row.text(3))
    let blobPrice: PriceID? = try row.optionalText(13)
    let contextID: ContextID? = try row.optionalText(11)
    let userSource = row.optionalInteger(8).flatMap(Purchase.UserSource.init)
    let source = row.optionalInteger(38).flatMap(Purchase.ContextSource.init)
    return Purchase(
      key: key, sessionID: try row.optionalText(4),
      observations: Observations(rawValue: row.integer(5)), customerID: try row.optionalText(6),
      userID: try row.optionalText(7), userSource: userSource,
      otherNames: [NamedUser](stored: try row.optionalText(49)),
      prices: try row.text(9).split(separator: "\n").map { PriceID(String($0)) },
      priceSource: Purchase.PriceSource(rawValue: row.integer(10)) ?? .event,
      payment: try row.optionalText(43).map(PaymentFacts.init(stored:)),
      contextID: contextID, context: blob.map { ContextBlob(text: $0, priceID: blobPrice) },
      contextSource: blob == nil ? nil : source, contextCandidates: row.optionalInteger(46),
      happenedAt: Timestamp(unixMilliseconds: row.integer(14)),
      createdAt: Timestamp(unixMilliseconds: row.integer(15)), boughtAt: row.timestamp(16))
  }

  /// What is derived of its users, as it is stored: whether they are in conflict, whether it is unmatched.
  static func flags(_ row: StoreRow) -> [Bool] { [row.flag(50), row.flag(51)] }

  private static func receipt(from row: StoreRow, body: [UInt8]?) throws(StoreFault) -> Receipt? {
    guard let id: ReceiptID = try row.optionalText(18) else { return nil }
    guard let state = ReceiptState(rawValue: try row.text(19)) else { throw Self.unknownWord }
    let corrected: String = try row.text(47)
    let copyFor: String = try row.text(53)
    return Receipt(
      id: id, createdAt: Timestamp(unixMilliseconds: row.integer(29)), state: state,
      reason: try row.optionalText(20).map(Reason.init), waitUntil: row.timestamp(21),
      priceID: try row.optionalText(22), priceMismatch: row.flag(23), contextDisputed: row.flag(39),
      destination: body == nil ? nil : try row.optionalText(41), isReversal: row.flag(42), body: body,
      attempts: row.integer(25),
      spentAttempts: row.integer(26),
      lastStatus: row.optionalInteger(27), lastCause: try row.optionalText(36).map(Reason.init),
      isReplay: row.flag(37), importID: try row.optionalText(28), readyAt: row.timestamp(30),
      retrySince: row.timestamp(31), pausedBase: row.duration(32),
      nextAttemptAt: row.timestamp(33), deliveredAt: row.timestamp(34), note: try row.optionalText(35),
      corrects: corrected.isEmpty ? nil : ReceiptID(corrected), correctedBy: try row.optionalText(48),
      copyOf: copy(try row.optionalText(52), copyFor),
      copy: copy(try row.optionalText(54), try row.optionalText(55)))
  }

  private static func copy(_ receipt: String?, _ destination: String?) -> ReceiptCopy? {
    guard let receipt, let destination, !destination.isEmpty else { return nil }
    return ReceiptCopy(receipt: ReceiptID(receipt), destination: DestinationName(destination))
  }

  /// The values of all columns, in their order.
  static func values(of record: PurchaseRecord) -> [StoreValue] {
    let purchase = record.purchase
    let receipt = record.receipt
    let content = StoredContent(body: receipt?.body, context: purchase.context?.text)
    return [
      .integer(record.rowID),
      .text(record.app), .text(purchase.key.type), .text(purchase.key.id),
      .optional(purchase.sessionID),
      .integer(purchase.observations.rawValue), .optional(purchase.customerID), .optional(purchase.userID),
      .optional(purchase.userSource?.rawValue), .text(purchase.prices.map(\.text).joined(separator: "\n")),
      .integer(purchase.priceSource.rawValue), .optional(purchase.contextID), .optional(content.context),
      .optional(purchase.context?.priceID), .time(purchase.happenedAt), .time(purchase.createdAt),
      .time(purchase.boughtAt), .time(record.updatedAt), .optional(receipt?.id),
      .optional(receipt?.state.rawValue), .optional(receipt?.reason?.text), .time(receipt?.waitUntil),
      .optional(receipt?.priceID), .flag(receipt?.priceMismatch ?? false), .optional(content.body?.bytes),
      .integer(receipt?.attempts ?? 0), .integer(receipt?.spentAttempts ?? 0), .optional(receipt?.lastStatus),
      .optional(receipt?.importID), .time(receipt?.createdAt), .time(receipt?.readyAt),
      .time(receipt?.retrySince),
      .duration(receipt?.pausedBase ?? .zero), .time(receipt?.nextAttemptAt),
      .time(receipt?.deliveredAt),
      .optional(receipt?.note), .optional(receipt?.lastCause?.text), .flag(receipt?.isReplay ?? false),
      .optional(purchase.contextSource?.rawValue), .flag(receipt?.contextDisputed ?? false),
      .text(purchase.key.processor), .optional(receipt?.destination), .flag(receipt?.isReversal ?? false),
      .optional(purchase.payment?.stored), .optional(content.body?.dictionary),
      .optional(content.contextAt), .optional(purchase.contextCandidates),
      .text(receipt?.corrects?.text ?? ""), .optional(receipt?.correctedBy),
      .optional(purchase.otherNames.stored), .flag(purchase.userConflict), .flag(record.isUnmatched),
      .optional(receipt?.copyOf?.receipt), .text(receipt?.copyOf?.destination.text ?? ""),
      .optional(receipt?.copy?.receipt), .optional(receipt?.copy?.destination),
    ]
  }

  /// A column has a word that this version does not know: the schema's CHECKs and this program disagree.
  private static let unknownWord = StoreFault(
    .corrupt, operation: "read a purchase", reason: "a column has a value that this version does not know")
}

// MARK: - PaymentColumn

// The facts of a payment as one column of `purchases`: a compact JSON object. Pure; any thread.

extension PaymentFacts {
  /// `{"amount":"59.99","currency":"USD","captured":true}`; unknown facts are left out.
  var stored: String {
    var members: [JSONValue.Member] = []
    func add(_ name: String, _ value: JSONValue?) {
      if let value { members.append(.init(name: name, value: value)) }
    }
    add("amount", amount.map(JSONValue.string))
    add("currency", currency.map(JSONValue.string))
    add("captured", isCaptured.map(JSONValue.bool))
    add("reference", reference.map(JSONValue.string))
    add("details", details.map(JSONValue.string))
    return JSONValue.object(members).text
  }

  /// - Parameter text: as `stored` returned it. An invalid text has no facts.
  init(stored text: String) {
    let json = try? JSONValue(parsing: Array(text.utf8))
    let isCaptured: Bool? = if case .bool(let flag) = json?["captured"] { flag } else { nil }
    self.init(
      amount: json?["amount"]?.stringValue, currency: json?["currency"]?.stringValue,
      isCaptured: isCaptured, reference: json?["reference"]?.stringValue,
      details: json?["details"]?.stringValue)
  }
}
