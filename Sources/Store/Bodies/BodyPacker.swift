// Compresses the bodies of events where their commands are made, before the writer's queue. Thread-safe; it
// does not block except for a moment while the dictionary is replaced.

internal import Platform

/// The present dictionary, shared by the threads that ingest events.
public final class BodyPacker: Sendable {
  private let dictionary = Monitor<BodyDictionary?>(nil)

  public init() {}

  /// The dictionary for new bodies; nil until there is one.
  public var current: BodyDictionary? { dictionary.withLock { $0 } }

  /// Compresses later bodies with a dictionary, which must be on disk.
  public func use(_ newer: BodyDictionary) { dictionary.withLock { $0 = newer } }

  /// The body compressed; unchanged if it is compressed already, if that would not make it smaller, or if
  /// there is no dictionary.
  public func pack(_ body: StoredBody) -> StoredBody {
    guard body.dictionary == nil, let current else { return body }
    return current.pack(body.bytes)
  }
}
