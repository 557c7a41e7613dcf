// Ingests a context that the app posted.

internal import Cryptography
public import Domain

/// Stores a context and gives it to a waiting purchase of the same user.
public struct IngestContext: StoreCommand {
  public var app: AppSlug
  public var userID: UserID
  public let blob: ContextBlob
  /// SHA-256 of the blob.
  let digest: [UInt8]
  /// The context's identifier, unless the post is a repeat.
  public var id: ContextID
  /// Whether the client made the identifier. Then each identifier is a context, even if the blobs are equal:
  /// the client may have opened a checkout page with it.
  public let isChosen: Bool
  /// The blob compressed; nil if it is stored as a text.
  let frame: StoredBody?
  /// For the log.
  public var requestID: String?
  /// The processor whose customer the user may be: `Stored.customerID` is looked for. Nil for none.
  public var customerAt: ProcessorName?

  public init(
    app: AppSlug, userID: UserID, blob: ContextBlob, id: ContextID, isChosen: Bool = false,
    requestID: String? = nil
  ) {
    self.app = app
    self.userID = userID
    self.blob = blob
    digest = SHA256.digest(blob.text.utf8.span)
    // Not on the writer's thread, which only stores bytes.
    let packed = BodyDictionary.receipt.pack(Array(blob.text.utf8))
    frame = packed.dictionary == nil ? nil : packed
    self.id = id
    self.isChosen = isChosen
    self.requestID = requestID
  }

  /// A context as it is stored.
  public struct Stored: Sendable, Equatable {
    public var id: ContextID
    public var receivedAt: Timestamp
    public var expiresAt: Timestamp
    /// Whether the same user posted the same blob before, and it is still unused or has the same identifier.
    public var isRepeat: Bool
    /// The user's only customer when the context was first posted, so that a repeat finds the same; nil if
    /// there is none, or it is not asked for.
    public var customerID: CustomerID?
  }

  public enum Outcome: Sendable, Equatable {
    case stored(Stored)
    /// Another context has the identifier that the client chose, or had it before its user was erased.
    /// Nothing was changed.
    case taken

    /// Nil if nothing was stored.
    public var stored: Stored? { if case .stored(let context) = self { context } else { nil } }
  }

  public var reads: [ReadKey] {
    [.user(app: app, id: userID), .blob(app: app, user: userID, digest: digest)]
      + (isChosen ? [.context(app: app, id: id)] : [])
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    let outcome = try ingest(in: store)
    guard let customerAt, case .stored(var context) = outcome else { return outcome }
    context.customerID = try store.onlyCustomer(
      of: userID, at: AppProcessor(app, customerAt), until: context.receivedAt)
    return .stored(context)
  }

  private func ingest(in store: StoreSession) throws(StoreFault) -> Outcome {
    if isChosen, let outcome = try findChosen(in: store) { return outcome }
    let window = store.rules(of: app)?.join.window ?? .zero
    let expiresAt = store.now.advanced(by: window)
    let known = try store.contexts.unused(app: app, user: userID, blob: blob.text, digest: digest)
    if let known, !isChosen {
      try store.contexts.post(id: known.id, at: store.now, expiresAt: expiresAt)
      // The context may have been too old for a waiting purchase, and is recent again.
      try offer(in: store)
      return .stored(Stored(id: known.id, receivedAt: known.receivedAt, expiresAt: expiresAt, isRepeat: true))
    }
    let record = ContextRecord(
      id: id, app: app, userID: userID, blob: blob, receivedAt: store.now, postedAt: store.now,
      expiresAt: expiresAt,
      purchaseRow: nil)
    try store.contexts.insert(record, digest: digest, frame: frame)
    // The purchases that name the older one still get it; a guess gets the newer one.
    if let known { try store.contexts.replace(known.id < id ? known : record) }
    if isChosen { try give(to: store) }
    try offer(in: store)
    return .stored(Stored(id: id, receivedAt: store.now, expiresAt: expiresAt, isRepeat: false))
  }

  /// What is known of the identifier that the client chose; nil if it is unused.
  private func findChosen(in store: StoreSession) throws(StoreFault) -> Outcome? {
    if let erased = store.erasures.name(of: id, app: app), try store.contexts.head(of: erased) != nil {
      return .taken
    }
    guard let head = try store.contexts.head(of: id) else { return nil }
    guard head.app == app, head.user == userID, head.digest == digest else { return .taken }
    return .stored(Stored(id: id, receivedAt: head.receivedAt, expiresAt: head.expiresAt, isRepeat: true))
  }

  /// Gives the context to the purchases that named it before it was posted.
  private func give(to store: StoreSession) throws(StoreFault) {
    var joiner = Joiner(store)
    try store.withCause(ChangeCause(requestID: requestID)) { () throws(StoreFault) in
      try joiner.giveAwaited(id, app: app)
    }
  }

  private func offer(in store: StoreSession) throws(StoreFault) {
    let posted = Join.Candidate(id: id, blob: blob, receivedAt: store.now)
    var joiner = Joiner(store)
    try store.withCause(ChangeCause(requestID: requestID)) { () throws(StoreFault) in
      try joiner.offer(posted, app: app, user: userID)
      try joiner.offerFreedContexts()
    }
  }
}
