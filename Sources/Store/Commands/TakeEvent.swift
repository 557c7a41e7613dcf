// A processor reported something, rightly signed.

public import Domain

/// Keeps an event and lets its purchase take in what it says.
public struct TakeEvent: StoreCommand {
  /// What the event says.
  public enum Content: Sendable {
    /// - keep: whether it may serve a purchase that is yet to come.
    case report(PurchaseReport, keep: Bool)
    case nothing(EventOutcome)
  }

  public var app: String
  public var processor: ProcessorName
  public var eventID: String
  public var type: String
  /// The raw bytes.
  public var body: [UInt8]
  public var content: Content
  /// For the log.
  public var requestID: String?

  public init(
    app: String, processor: ProcessorName, eventID: String, type: String, body: [UInt8], content: Content,
    requestID: String? = nil
  ) {
    self.app = app
    self.processor = processor
    self.eventID = eventID
    self.type = type
    self.body = body
    self.content = content
    self.requestID = requestID
  }

  public enum Outcome: Sendable, Equatable {
    case stored(EventOutcome)
    /// The same event is there already; nothing changed.
    case repeated
  }

  public var reads: [ReadKey] {
    let event = ReadKey.event(app: app, processor: processor, id: eventID)
    guard case .report(let report, _) = content else { return [event] }
    return [event] + report.reads(app: app)
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    if try store.events.contains(id: eventID, app: app, processor: processor) { return .repeated }
    if store.erasures.isInUse, let outcome = try takeErased(in: store) { return outcome }
    switch content {
    case .nothing(let outcome):
      try store.events.insert(self, outcome: outcome, purchaseRow: nil, at: store.now)
      return .stored(outcome)
    case .report(let report, let keep):
      let cause = ChangeCause(requestID: requestID, eventID: eventID)
      let taken = try store.because(of: cause) { () throws(StoreFault) in
        try store.take(report, app: app, keep: keep)
      }
      try store.events.insert(self, outcome: taken.outcome, purchaseRow: taken.row, at: store.now)
      return .stored(taken.outcome)
    }
  }

  /// What became of an event of a user who was forgotten; nil for one of any other.
  private func takeErased(in store: StoreSession) throws(StoreFault) -> Outcome? {
    guard let token = store.erasures.token(eventID, app: app) else { return nil }
    if try store.events.contains(id: token, app: app, processor: processor) { return .repeated }
    guard case .report(let report, _) = content, try store.erasures.isErased(report, app: app) else {
      return nil
    }
    var emptied = self
    (emptied.eventID, emptied.body) = (token, [])
    try store.events.insert(emptied, outcome: .erased, purchaseRow: nil, at: store.now)
    return .stored(.erased)
  }
}
