// The changes of the index of a search. What a run contains is read and sorted on another thread; these
// write it in slices, if nothing was erased since. They lock all apps where programs share a database, so
// an erasure and a slice never run at once.

internal import Domain

/// Prepares a database for the index: creates the key for e-mail addresses.
public struct BeginSearchIndex: StoreCommand {
  public init() {}

  public func apply(to store: StoreSession) throws(StoreFault) {
    guard try store.search.erasures() == nil else { return }
    try store.search.create(key: store.randomBytes(AddressHash.keyBytes))
  }
}

/// Writes the next blocks of a run; with the last ones it replaces the runs that it was made from.
public struct WriteSearchRun: StoreCommand {
  /// 128 KiB, so that other commands wait for about a millisecond.
  static let blocksMax = 64

  public var draft: SearchDraft
  /// The number of the run, and how many of its blocks are written; nil before the first slice.
  public var written: Progress?

  public struct Progress: Sendable, Equatable {
    public var run: Int64
    public var blocks: Int
  }

  public enum Outcome: Sendable, Equatable {
    case written(Progress)
    case ready
    /// The index has changed since the draft was read: it must be read again.
    case void
  }

  public init(_ draft: SearchDraft, written: Progress? = nil) {
    (self.draft, self.written) = (draft, written)
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    let search = store.search
    guard try search.erasures() == draft.erasures else { return .void }
    let runs = try search.all()
    guard isCurrent(runs) else { return .void }
    var progress =
      if let written { written } else { Progress(run: try search.insert(draft, at: store.now), blocks: 0) }
    let slice = draft.blocks[progress.blocks...].prefix(Self.blocksMax)
    try search.insert(slice, run: progress.run)
    progress.blocks += slice.count
    guard progress.blocks == draft.blocks.count else { return .written(progress) }
    for replaced in draft.replaced { try search.set(replaced, from: .ready, to: .dropped) }
    try search.set(progress.run, from: .building, to: .ready)
    return .ready
  }

  /// Whether the runs are still those from which the draft was made.
  private func isCurrent(_ runs: [SearchRun]) -> Bool {
    if let written { return runs.contains { $0.number == written.run && $0.state == .building } }
    guard draft.replaced.isEmpty else {
      let ready = Set(runs.lazy.filter { $0.state == .ready }.map(\.number))
      return ready.isSuperset(of: draft.replaced)
    }
    // Another program may have made a run from the same rows.
    return SearchIndex.end(of: draft.family, runs) < draft.firstRow
  }
}

/// Gives up runs: a search does not read them any more, and `DeleteSearchRun` deletes them.
public struct DropSearchRuns: StoreCommand {
  public var numbers: [Int64]

  public init(_ numbers: [Int64]) { self.numbers = numbers }

  public func apply(to store: StoreSession) throws(StoreFault) {
    for run in try store.search.all() where numbers.contains(run.number) && run.state != .dropped {
      try store.search.set(run.number, from: run.state, to: .dropped)
    }
  }
}

/// Deletes some blocks of a run that was given up or replaced.
public struct DeleteSearchRun: StoreCommand {
  public var number: Int64

  public init(_ number: Int64) { self.number = number }

  public func apply(to store: StoreSession) throws(StoreFault) {
    try store.search.delete(number, limit: WriteSearchRun.blocksMax)
  }
}
