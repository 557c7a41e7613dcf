// What a search finds. Values.

public import Domain

/// A purchase that a search found.
public struct FoundPurchase: Sendable, Equatable {
  public var row: PurchaseRowID
  public var app: AppSlug
  public var processor: ProcessorName
  public var objectID: ObjectID
  public var sessionID: SessionID?
  public var customerID: CustomerID?
  public var userID: UserID?
  /// Nil if it has no receipt.
  public var receiptID: ReceiptID?
  public var state: ReceiptState?
  public var reason: Reason?
  public var importID: String?
  /// The users besides `userID` that sources named.
  public var otherUsers: [UserID]
  /// When its receipt was made, or else the first event about it came.
  public var at: Timestamp
}

/// One result of a search.
public struct SearchHit: Sendable, Equatable {
  public enum Item: Sendable, Equatable {
    case purchase(FoundPurchase)
    case context(ContextSummary)
    case event(EventSummary)
  }

  /// Which of its ids the text is, or begins.
  public enum Match: String, Sendable {
    case receipt, purchase, checkout, customer, user, importID = "import id", context, event, price
    /// An event names it.
    case mention
    /// The merchant's reference of a payment that the relay started.
    case reference
    /// An e-mail address in an event.
    case address
  }

  public var item: Item
  public var match: Match
  /// The id in an event, or the reference, of which the text is all or a part; nil for other matches.
  public var named: String?

  init(item: Item, match: Match, named: String? = nil) {
    (self.item, self.match, self.named) = (item, match, named)
  }

  /// When the receipt was made, or the context or event came.
  public var at: Timestamp {
    switch item {
    case .purchase(let purchase): purchase.at
    case .context(let context): context.receivedAt
    case .event(let event): event.receivedAt
    }
  }
}

/// The results of a search, newest first.
public struct Findings: Sendable, Equatable {
  public var list: [SearchHit] = []
  /// Whether the text is only a part of their ids.
  public var isPart = false
  /// Whether there are more than were read.
  public var isCut = false
  /// How many of the newest receipts were compared for a price, if there are more that were not.
  public var compared: Int?
  /// Whether there are events that are not in the index of a search yet, and were not read either.
  public var isIndexing = false

  public init() {}
}

/// Which results are wanted; a nil property restricts nothing.
public struct FindFilter: Sendable, Equatable {
  public var app: AppSlug?
  public var since: Timestamp?
  public var until: Timestamp?

  public init() {}

  func includes(_ finding: SearchHit, app: AppSlug) -> Bool {
    (self.app == nil || self.app == app) && since.map { finding.at >= $0 } ?? true
      && until.map { finding.at < $0 } ?? true
  }
}
