// Compresses bodies on the thread that makes their command, before the writer's queue; the bodies of
// receipts, which the join makes, on the writer's thread. Thread-safe; holds its lock only to read the
// dictionary and to count, not while it compresses.

internal import Platform

/// The present dictionary of one kind, shared by the threads that compress.
public final class BodyPacker: Sendable {
  private struct State {
    var dictionary: BodyDictionary?
    var tally = BodyTally()
    var onNeed: @Sendable () -> Void = {}
  }

  private let state = Monitor(State())

  public init() {}

  /// The dictionary for new bodies; nil until there is one.
  public var current: BodyDictionary? { state.withLock { $0.dictionary } }

  /// Compresses later bodies with a dictionary, which must be on disk.
  public func use(_ newer: BodyDictionary) {
    state.withLock { state in
      state.dictionary = newer
      state.tally = BodyTally()
    }
  }

  /// Sets what is called when a dictionary is needed: without one, whenever `BodyTally.bodiesMin` more bodies
  /// came; with one, when it compresses clearly worse than at first. It must not block. The last bodies may
  /// not be stored yet.
  public func whenNeeded(_ notify: @escaping @Sendable () -> Void) {
    state.withLock { $0.onNeed = notify }
  }

  /// The body compressed; unchanged if it is compressed already, if that would not make it smaller, or if
  /// there is no dictionary.
  public func pack(_ body: StoredBody) -> StoredBody {
    guard body.dictionary == nil, StoredBody.sizes ~= body.bytes.count else { return body }
    let packed = current?.pack(body.bytes) ?? body
    let notify = state.withLock { state in
      let isNeeded = state.tally.add(
        received: body.bytes.count, stored: packed.bytes.count, hasDictionary: state.dictionary != nil)
      return isNeeded ? state.onNeed : nil
    }
    notify?()
    return packed
  }
}

/// The packer of each kind.
public struct BodyPackers: Sendable {
  public let event = BodyPacker()
  public let receipt = BodyPacker()

  public init() {}

  public subscript(kind: BodyKind) -> BodyPacker {
    switch kind {
    case .event: event
    case .receipt: receipt
    }
  }
}

/// The sizes of the latest bodies, which show whether a new dictionary is needed. A value.
struct BodyTally {
  /// Without a dictionary: enough to make one from, even if a few are not stored yet.
  static let bodiesMin = 600
  /// With one: the stored share of the received bytes is measured for each window of this many bodies. A new
  /// dictionary is needed when the share is `growthMin` times that of the first window.
  static let windowBodies = 2000
  static let growthMin = 1.5

  private var bodies = 0
  private var received = 0
  private var stored = 0
  private var firstShare: Double?

  /// - Returns: whether a dictionary is needed.
  mutating func add(received: Int, stored: Int, hasDictionary: Bool) -> Bool {
    bodies += 1
    self.received += received
    self.stored += stored
    guard bodies >= (hasDictionary ? Self.windowBodies : Self.bodiesMin) else { return false }
    let share = Double(self.stored) / Double(self.received)
    (bodies, self.received, self.stored) = (0, 0, 0)
    guard hasDictionary else { return true }
    guard let firstShare else {
      firstShare = share
      return false
    }
    return share > firstShare * Self.growthMin
  }
}
