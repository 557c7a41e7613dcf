// Ingests an event from a processor.

public import Domain

/// Stores an event and merges its report into its purchase.
public struct IngestEvent: StoreCommand {
  /// What the event says.
  public enum Content: Sendable {
    /// - keep: whether to store a purchase that is not known yet.
    case report(PurchaseReport, keep: Bool)
    /// Only that a purchase changed: the processor must be asked for its state.
    /// - keep: whether to fetch a purchase that is not known yet, too.
    case fetch(PurchaseKey, sessionID: SessionID?, keep: Bool)
    /// Which users a customer has, without a purchase.
    case customer(CustomerFacts)
    case nothing(EventOutcome)

    /// Whether the event surely belongs to a purchase, once it is stored.
    public var belongsToPurchase: Bool {
      switch self {
      case .report(_, let keep), .fetch(_, _, let keep): keep
      case .customer, .nothing: false
      }
    }

    /// The keys of what it concerns.
    func reads(of place: AppProcessor) -> [ReadKey] {
      switch self {
      case .report(let report, _): return report.reads(app: place.app)
      case .fetch(let key, let sessionID, _):
        let session = sessionID.map { ReadKey.session(app: place.app, processor: key.processor, id: $0) }
        return [.object(app: place.app, key: key)] + [session].compactMap(\.self)
      case .customer(let facts):
        return [.customer(app: place.app, processor: place.processor, id: facts.customerID)]
      case .nothing: return []
      }
    }

    /// The content if the sender is not verified: only which purchase to look up, and only one that is known,
    /// because a lookup uses the app's key.
    var asHint: Content {
      switch self {
      case .report(let report, _): .fetch(report.key, sessionID: report.sessionID, keep: false)
      case .fetch(let key, let sessionID, _): .fetch(key, sessionID: sessionID, keep: false)
      case .customer: .nothing(.ignored)
      case .nothing: self
      }
    }
  }

  public var app: AppSlug
  public var processor: ProcessorName
  public var eventID: EventID
  public var type: String
  public private(set) var body: StoredBody
  public let content: Content
  /// Whether the sender is not verified.
  public let isHint: Bool
  /// What it names, if it may belong to no purchase: the body of an event about an erased user is not stored.
  public var mentions = Mentions()
  /// For the log.
  public var requestID: String?

  /// - Parameter body: the bytes as they were received. They are compressed here, so that the writer only
  ///   stores bytes.
  public init(
    app: AppSlug, processor: ProcessorName, eventID: EventID, type: String, body: [UInt8], content: Content,
    isHint: Bool = false, requestID: String? = nil
  ) {
    self.app = app
    self.processor = processor
    self.eventID = eventID
    self.type = type
    self.body = BodyDictionary.ofEvents(from: processor)?.pack(body) ?? StoredBody(body)
    self.content = isHint ? content.asHint : content
    self.isHint = isHint
    self.requestID = requestID
  }

  public enum Outcome: Sendable, Equatable {
    case stored(EventOutcome)
    /// The event is already stored; nothing changed.
    case repeated
    /// A hint about an unknown purchase. It is not stored, because anyone can send one.
    case unmatched
  }

  public var reads: [ReadKey] {
    [ReadKey.event(app: app, processor: processor, id: eventID)]
      + mentions.ids.map { .mention(app: app, id: $0) } + content.reads(of: AppProcessor(app, processor))
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    if try store.events.contains(id: eventID, app: app, processor: processor) {
      // A hint has no id: it looks the same after each change of its purchase.
      if isHint, case .fetch(let key, _, _) = content { try store.fetchAgain(key, app: app) }
      return .repeated
    }
    if store.erasures.isInUse, let outcome = try ingestErased(in: store) { return outcome }
    switch content {
    case .nothing where isHint: return .unmatched
    case .customer(let facts):
      if try !store.erasures.hasErased(mentions, app: app) {
        var joiner = Joiner(store)
        let cause = ChangeCause(requestID: requestID, eventID: eventID)
        try store.withCause(cause) { () throws(StoreFault) in
          try joiner.learn(facts, at: AppProcessor(app, processor))
        }
      }
      return try insert(.noted, nil, in: store)
    case .nothing(let outcome): return try insert(outcome, nil, in: store)
    case .report(let report, let keep):
      let cause = ChangeCause(requestID: requestID, eventID: eventID)
      var joiner = Joiner(store)
      let ingested = try store.withCause(cause) { () throws(StoreFault) in
        try joiner.ingest(report, app: app, keep: keep)
      }
      return try insert(ingested.outcome, ingested.row, in: store)
    case .fetch(let key, let sessionID, let keep):
      let found = try store.fetch(key, sessionID: sessionID, app: app, keep: keep)
      if found == nil, isHint { return .unmatched }
      return try insert(found?.outcome ?? (keep ? .receipt : .ignored), found?.row, in: store)
    }
  }

  /// An event without a purchase that names an erased user's customer or payment is stored without its body.
  private func insert(
    _ outcome: EventOutcome, _ row: PurchaseRowID?, in store: StoreSession
  ) throws(StoreFault) -> Outcome {
    if row == nil, let token = store.erasures.token(eventID, app: app),
      try store.erasures.hasErased(mentions, app: app)
    {
      return try insertEmptied(token, in: store)
    }
    try store.events.insert(self, outcome: outcome, purchaseRow: row, at: store.now)
    return .stored(outcome)
  }

  private func insertEmptied(_ token: EventID, in store: StoreSession) throws(StoreFault) -> Outcome {
    var emptied = self
    (emptied.eventID, emptied.body) = (token, StoredBody([]))
    try store.events.insert(emptied, outcome: .erased, purchaseRow: nil, at: store.now)
    return .stored(.erased)
  }

  /// The outcome for an erased user's event; nil for any other event.
  private func ingestErased(in store: StoreSession) throws(StoreFault) -> Outcome? {
    guard let token = store.erasures.token(eventID, app: app) else { return nil }
    if try store.events.contains(id: token, app: app, processor: processor) { return .repeated }
    guard try isAboutErased(in: store) else { return nil }
    if isHint { return .unmatched }
    return try insertEmptied(token, in: store)
  }

  /// Whether it concerns an erased user's purchase.
  func isAboutErased(in store: StoreSession) throws(StoreFault) -> Bool {
    switch content {
    case .report(let report, _):
      try store.erasures.isErased(report.key, sessionID: report.sessionID, app: app)
    case .fetch(let key, let sessionID, _):
      try store.erasures.isErased(key, sessionID: sessionID, app: app)
    case .customer, .nothing: false
    }
  }
}
