// The contexts of an outbox, in memory and on disk: `state` has both, so files are changed under its lock.
// Called from any task.

internal import Foundation

extension CheckoutOutbox {
  struct State {
    /// Oldest first.
    var entries: [OutboxEntry] = []
    /// The ids of the entries that have a file. If it is gone, another process has posted the context.
    var stored: Set<String> = []
    /// Ids that are over and whose files could not be deleted.
    var undeleted: Set<String> = []
    /// The posts that are under way, by id.
    var posts: [String: Task<PostResult, Never>] = [:]
    /// Whether every stored entry was read once.
    var isLoaded = false
    /// The users that were forgotten before every entry could be read.
    var forgotten: [String] = []
    /// The clock's seconds before which the relay wants no posts.
    var notBefore = -TimeInterval.infinity
    /// Posts what waits, again and again.
    var repeating: Task<Void, Never>?

    mutating func remove(_ ids: [String], _ folder: OutboxFolder?) {
      entries.removeAll { ids.contains($0.id) }
      stored.subtract(ids)
      for id in ids where folder?.remove(id) == false { undeleted.insert(id) }
    }

    /// Merges what is in the folder. An app and its extensions may share it.
    /// - Parameter listing: nil if there is no folder.
    mutating func merge(_ listing: OutboxFolder.Listing?, _ folder: OutboxFolder) {
      guard let listing else {
        (isLoaded, forgotten) = (true, [])
        return
      }
      entries.removeAll {
        stored.contains($0.id) && !listing.ids.contains($0.id) && posts[$0.id] == nil
      }
      stored.formIntersection(listing.ids)
      let unwanted = listing.entries.filter { entry in
        forgotten.contains { LinkText.isSame($0, entry.userID) }
      }
      entries += listing.entries
      stored.formUnion(listing.entries.map(\.id))
      // Ids begin with the time.
      entries.sort { $0.id < $1.id }
      remove(unwanted.map(\.id), folder)
      if listing.isComplete { (isLoaded, forgotten) = (true, []) }
    }
  }

  /// The contexts that wait, oldest first.
  public var pendingContextIDs: [String] {
    load()
    return state.withLock { $0.entries.map(\.id) }
  }

  /// Deletes the contexts of a user, for an app whose user is deleted. They are not posted; a post that is
  /// under way is cancelled, and may have reached the relay. Contexts that cannot be read before the device
  /// is unlocked are deleted when they can, if the app still runs then.
  public func forget(userID: String) {
    load()
    let ids = state.withLock { state in
      if !state.isLoaded { state.forgotten.append(userID) }
      return state.entries.filter { LinkText.isSame($0.userID, userID) }.map(\.id)
    }
    discard(ids)
  }

  /// Stores a new entry.
  func add(_ entry: OutboxEntry) {
    load()
    var fault: OperatorText?
    let dropped = state.withLock { state in
      state.entries.append(entry)
      do {
        try folder?.save(entry)
        if folder != nil { state.stored.insert(entry.id) } else { fault = "There is no folder for it." }
      } catch {
        fault = OperatorText("\(error)")
      }
      return state.entries.prefix(max(0, state.entries.count - Self.entriesMax)).map(\.id)
    }
    if let fault { report(.notStored(id: entry.id, fault)) }
    drop(dropped)
  }

  /// Removes entries, and cancels their posts.
  func discard(_ ids: [String]) {
    let posts = state.withLock { state in
      state.remove(ids, folder)
      return ids.compactMap { state.posts[$0] }
    }
    for post in posts { post.cancel() }
  }

  /// Removes entries that cannot be posted any more.
  func drop(_ ids: [String]) {
    state.withLock { $0.remove(ids, folder) }
    for id in ids { report(.expired(id: id)) }
  }

  /// Reads the stored contexts.
  /// - Parameter isAgain: also if they were read before, because another process may have changed them.
  func load(isAgain: Bool = false) {
    state.withLock { state in
      guard isAgain || !state.isLoaded else { return }
      let known = state.undeleted.union(state.entries.map(\.id))
      guard let folder else { return }
      do {
        state.merge(try folder.list(besides: known), folder)
      } catch {
        return  // It is read again later: it may be locked until the device is unlocked.
      }
    }
  }
}
