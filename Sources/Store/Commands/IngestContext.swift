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
  /// The blob compressed; nil if it is stored as a text.
  private(set) var frame: StoredBody?
  /// For the log.
  public var requestID: String?

  public init(
    app: AppSlug, userID: UserID, blob: ContextBlob, id: ContextID, requestID: String? = nil
  ) {
    self.app = app
    self.userID = userID
    self.blob = blob
    digest = SHA256.digest(blob.text.utf8.span)
    self.id = id
    self.requestID = requestID
  }

  /// Compresses the blob, if that makes it smaller. Called where the command is made, so that the writer only
  /// stores bytes.
  public mutating func pack(with packer: BodyPacker) {
    let packed = packer.pack(StoredBody(Array(blob.text.utf8)))
    frame = packed.dictionary == nil ? nil : packed
  }

  public struct Outcome: Sendable, Equatable {
    public var id: ContextID
    public var receivedAt: Timestamp
    public var expiresAt: Timestamp
    /// Whether the same user posted the same blob before and it is still unused.
    public var isRepeat: Bool
  }

  public var reads: [ReadKey] {
    [.user(app: app, id: userID), .blob(app: app, user: userID, digest: digest)]
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    let window = store.rules(of: app)?.join.window ?? .zero
    let expiresAt = store.now.advanced(by: window)
    let known = try store.contexts.unused(app: app, user: userID, blob: blob.text, digest: digest)
    if let known {
      try store.contexts.post(id: known.id, at: store.now, expiresAt: expiresAt)
      // The context may have been too old for a waiting purchase, and is recent again.
      try offer(in: store)
      return Outcome(id: known.id, receivedAt: known.receivedAt, expiresAt: expiresAt, isRepeat: true)
    }
    let record = ContextRecord(
      id: id, app: app, userID: userID, blob: blob, receivedAt: store.now, postedAt: store.now,
      expiresAt: expiresAt,
      purchaseRow: nil)
    try store.contexts.insert(record, digest: digest, frame: frame)
    try offer(in: store)
    return Outcome(id: id, receivedAt: store.now, expiresAt: expiresAt, isRepeat: false)
  }

  private func offer(in store: StoreSession) throws(StoreFault) {
    let posted = Join.Candidate(id: id, blob: blob, receivedAt: store.now)
    try store.withCause(ChangeCause(requestID: requestID)) { () throws(StoreFault) in
      try store.offer(posted, app: app, user: userID)
    }
  }
}
