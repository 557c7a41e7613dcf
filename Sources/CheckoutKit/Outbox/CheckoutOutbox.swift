// Begins checkouts without waiting for the relay: a context is on the device's disk before the checkout page
// opens, and is posted until the relay has it. Called from any task; a lock guards the state.

public import Foundation

/// A checkout that the app may open now.
public struct StartedCheckout: Sendable, Hashable {
  /// The context's id. Keep it until the checkout is over; it is a secret.
  public let contextID: String
  /// The checkout page, to be opened in the browser. It carries the id.
  public let page: URL
  /// The relay's answer; nil if the relay could not be reached, and the context is in the outbox.
  public let posted: PostedContext?
}

/// Begins checkouts, and posts their contexts to the relay, also after the app was ended.
///
/// ```swift
/// let outbox = CheckoutOutbox(relay: relay) { pages[$0.stripePriceID] }
/// let checkout = try await outbox.begin(context, userID: userID)   // at most five seconds
/// // open checkout.page in the browser
/// ```
///
/// Create one for each ``RelayClient`` when the app is launched, and call ``flush()`` whenever the app
/// becomes active; in SwiftUI, the modifier `postsCheckouts(_:)` does. Each call of ``begin(_:userID:)`` is
/// one tap and makes its own context.
///
/// - A context is stored before it is posted: one file each, replaced atomically, excluded from backups, and
///   deleted when the relay has answered. At most ``entriesMax`` are kept, the newest. After
///   ``CheckoutID/lifetime`` a context is dropped when the relay has answered a post of it once more: the
///   device's clock alone does not decide. Ids are made from the device's time, corrected by the relay's last
///   answer.
/// - The file has the user's id and the context. ``forget(userID:)`` deletes them.
public final class CheckoutOutbox: Sendable {
  /// The most contexts that wait at the same time.
  public static let entriesMax = 50

  /// What became of a context. Log it, or ignore it.
  public enum Outcome: Sendable, Hashable {
    /// The relay has it. `id` is the one that the app made. An old relay, or one that refused the time in the
    /// id, has another one, ``PostedContext/contextID``; a purchase that names the refused id does not get
    /// the context by its name.
    case posted(id: String, PostedContext)
    /// The relay cannot be reached, or does not accept posts now. It is posted again.
    case delayed(id: String, RelayError)
    /// The relay does not accept it. It was dropped.
    case refused(id: String, RelayError)
    /// It is older than ``CheckoutID/lifetime`` and the relay has not accepted it once more, or newer ones
    /// took its place. It was dropped.
    case expired(id: String)
    /// It could not be stored on disk. It is posted while the app runs.
    case notStored(id: String, OperatorText)
  }

  let relay: RelayClient
  let time: RelayTime
  let folder: OutboxFolder?
  let pages: @Sendable (WebCheckoutContext) -> URL?
  private let onOutcome: @Sendable (Outcome) -> Void
  let state = Locked(State())
  let pace: Pace

  /// How long the outbox waits.
  struct Pace: Sendable {
    /// Seconds for which a customer waits for the relay, if there is a page to open without it.
    var patience: TimeInterval = 5
    /// Seconds between two rounds: doubled from the first to the longest.
    var pauses = RetryPolicy(attemptsMax: .max, firstPause: 4, pauseMax: 300, patience: .infinity)
  }

  /// Creates an outbox. It reads the disk when it is used first.
  /// - Parameters:
  ///   - relay: the client that posts.
  ///   - folder: where the contexts are stored; nil for a folder of the client's app in Application Support.
  ///     An app and its extensions may share one.
  ///   - pages: the checkout page of a context's price, without the id, in case the relay cannot be reached;
  ///     nil if there is none. It must be a page that passes `client_reference_id` to the payment
  ///     processor, as Stripe's Payment Links do.
  ///   - onOutcome: what became of each context. Called on any thread.
  public convenience init(
    relay: RelayClient, folder: URL? = nil,
    pages: @escaping @Sendable (WebCheckoutContext) -> URL? = { _ in nil },
    onOutcome: @escaping @Sendable (Outcome) -> Void = { _ in }
  ) {
    self.init(relay: relay, folder: folder, pace: Pace(), pages: pages, onOutcome: onOutcome)
  }

  init(
    relay: RelayClient, folder: URL?, pace: Pace,
    pages: @escaping @Sendable (WebCheckoutContext) -> URL?,
    onOutcome: @escaping @Sendable (Outcome) -> Void
  ) {
    self.pages = pages
    self.pace = pace
    self.onOutcome = onOutcome
    // Without a folder, the outbox is in memory: a sale must not fail for it.
    self.folder = (folder ?? (try? OutboxFolder.standard(app: relay.app))).map(OutboxFolder.init)
    let time = RelayTime(relay.clock, self.folder)
    self.time = time
    self.relay = RelayClient(
      relay: relay.relay, app: relay.app, credential: relay.credential,
      transport: TimedTransport(transport: relay.transport, time: time), retries: relay.retries,
      clock: relay.clock)
  }

  deinit { state.withLock { $0.repeating }?.cancel() }

  // MARK: Beginning

  /// Begins a checkout: stores its context, posts it, and returns the page to open.
  ///
  /// If there is a page to open without the relay, this takes at most five seconds and does not fail for the
  /// network or the relay: the page gets an id that the app made, and the context is posted later. Otherwise
  /// it takes as long as ``RelayClient/checkout(_:userID:id:)``.
  /// - Parameters:
  ///   - context: the paywall and the price.
  ///   - userID: the user id in the Purchasely SDK.
  /// - Throws: ``RelayError/encoding(_:)`` for a context that is too large or a user id that is not valid,
  ///   and ``RelayError/cancelled``; without a page, also the errors of the relay. Then nothing is left in
  ///   the outbox.
  public func begin(_ context: WebCheckoutContext, userID: String) async throws(RelayError) -> StartedCheckout
  {
    let entry = OutboxEntry(
      id: CheckoutID.make(at: time.now), userID: userID, plyContext: try context.plyContext())
    guard let base = pages(context), let page = Self.page(base, of: entry.id) else {
      // Only the relay knows the page, so there is nothing to open before it has answered.
      let posted = try await send(entry, to: "checkout", relay.retries)
      guard let page = posted.checkoutURL else { throw .unexpectedAnswer(status: 201, body: "") }
      return StartedCheckout(contextID: posted.contextID, page: page, posted: posted)
    }
    // Reports values that no relay accepts, before a page is opened.
    _ = try relay.request("checkout", of: userID)
    add(entry)
    let post = post(entry, isFirst: true)
    let answer = try? await first(post, within: pace.patience)?.get()
    guard !Task.isCancelled else {
      discard([entry.id])
      throw .cancelled
    }
    // The relay may know a better page, and have another id.
    let contextID = answer?.contextID ?? entry.id
    return StartedCheckout(
      contextID: contextID, page: answer?.checkoutURL ?? Self.page(base, of: contextID) ?? page,
      posted: answer)
  }

  /// The result of a post, or nil when the time is up or the task is cancelled; then the post goes on.
  private func first(_ post: Task<PostResult, Never>?, within seconds: TimeInterval) async -> PostResult? {
    guard let post else { return nil }
    let clock = relay.clock
    let answers = AsyncStream.makeStream(of: PostResult?.self)
    let alarm = Task {
      // A clock throws only on cancellation: then the answer has come.
      guard (try? await clock.sleep(seconds: seconds)) != nil else { return }
      answers.continuation.yield(nil)
    }
    defer { alarm.cancel() }
    Task { answers.continuation.yield(await post.value) }
    for await answer in answers.stream { return answer }
    return nil
  }

  /// A checkout page with a context's id; nil if the address is not a web page, or has an id already.
  static func page(_ url: URL, of id: String) -> URL? {
    let name = "client_reference_id"
    let parts = URLParts(url)
    guard parts.comparableScheme == "https", parts.authority.map(\.isEmpty) == false,
      !parts.fields.contains(where: { LinkText.unescaped($0.name) == name })
    else { return nil }
    let whole = url.absoluteString
    let address = whole.prefix { $0 != "#" }
    let separator = !address.contains("?") ? "?" : address.hasSuffix("?") || address.hasSuffix("&") ? "" : "&"
    return URL(string: "\(address)\(separator)\(name)=\(id)\(whole.dropFirst(address.count))")
  }

  func report(_ outcome: Outcome) { onOutcome(outcome) }
}

// MARK: - Entries

// The contexts of an outbox, in memory and on disk: `state` has both, so files are changed under its lock.
// Called from any task.

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
    /// The claim link that waits, if it was read or kept.
    var claim: ClaimLink?
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

// MARK: - Posting

// How an outbox posts what waits. Called from any task.

extension CheckoutOutbox {
  typealias PostResult = Result<PostedContext, RelayError>

  /// Posts the contexts that wait, oldest first. Call it when the app is launched and whenever it becomes
  /// active. It waits for posts that are under way, and ends at the first failure of the network, or when its
  /// task is cancelled; a post that has begun goes on all the same. The outbox tries again while the app
  /// runs. Before the time of the relay's `Retry-After` nothing is sent.
  /// - Returns: how many contexts still wait.
  @discardableResult public func flush() async -> Int {
    load(isAgain: true)
    for entry in state.withLock({ $0.entries }) {
      // The post of a tap may be under way. If it fails, this is the next attempt.
      _ = await state.withLock { $0.posts[entry.id] }?.value
      if Task.isCancelled { break }
      guard let post = post(entry, isFirst: false) else { continue }
      guard case .failure(let error) = await post.value else { continue }
      if error.isTransient || error.problemName == nil { break }
      // Only after the relay has answered: the device's clock may be wrong, or may have been.
      if entry.end <= time.now, state.withLock({ $0.entries.contains { $0.id == entry.id } }) {
        drop([entry.id])
      }
    }
    repeatLater()
    return state.withLock { $0.entries.count }
  }

  /// Begins to post an entry.
  /// - Parameter isFirst: whether the customer waits for it.
  /// - Returns: nil if the entry is over, or must not be sent yet. The task is the caller's to cancel, and
  ///   not a part of the caller's: going to the background must not end a post.
  func post(_ entry: OutboxEntry, isFirst: Bool) -> Task<PostResult, Never>? {
    let now = relay.clock.seconds
    return state.withLock { state in
      guard state.entries.contains(where: { $0.id == entry.id }) else { return nil }
      if let running = state.posts[entry.id] { return running }
      guard isFirst || now >= state.notBefore else { return nil }
      let post = Task { await self.attempt(entry, isFirst: isFirst) }
      state.posts[entry.id] = post
      return post
    }
  }

  private func attempt(_ entry: OutboxEntry, isFirst: Bool) async -> PostResult {
    let result: PostResult
    do throws(RelayError) {
      result = .success(try await isFirst ? sendFirst(entry) : send(entry, to: "contexts", Self.once))
    } catch {
      result = .failure(error)
    }
    let now = relay.clock.seconds
    let isOver = Self.isOver(result, isFirst: isFirst)
    let isKnown = state.withLock { state in
      state.posts[entry.id] = nil
      if case .failure(let error) = result, let pause = error.retryAfter {
        state.notBefore = max(state.notBefore, now + min(pause, Self.retryAfterMax))
      }
      let isKnown = state.entries.contains { $0.id == entry.id }
      if isOver { state.remove([entry.id], folder) }
      return isKnown
    }
    // Otherwise it was cancelled, or its user was forgotten.
    guard isKnown else { return result }
    switch result {
    case .success(let posted): report(.posted(id: entry.id, posted))
    case .failure(let error):
      report(isOver ? .refused(id: entry.id, error) : .delayed(id: entry.id, error))
      repeatLater()
    }
    return result
  }

  /// One attempt, with the time that a slow network needs.
  private static let once = RetryPolicy(attemptsMax: 1, firstTimeout: RequestTimeout.post)
  /// The longest `Retry-After`, in seconds: the clock that measures it stands still while the device sleeps.
  private static let retryAfterMax: TimeInterval = 3600

  /// Posts to the path that also answers with the relay's page, or opens a checkout at the payment processor.
  /// The retries begin while the customer waits; after that the app's own page is open.
  private func sendFirst(_ entry: OutboxEntry) async throws(RelayError) -> PostedContext {
    var retries = relay.retries
    retries.patience = min(retries.patience, pace.patience)
    do throws(RelayError) {
      return try await send(entry, to: "checkout", retries)
    } catch {
      // Only the app knows the page.
      guard error.problemName == "unknown-price" else { throw error }
    }
    return try await send(entry, to: "contexts", retries)
  }

  func send(
    _ entry: OutboxEntry, to endpoint: String, _ retries: RetryPolicy
  ) async throws(RelayError) -> PostedContext {
    do throws(RelayError) {
      return try await relay.post(
        plyContext: entry.plyContext, userID: entry.userID, id: entry.id, endpoint: endpoint, retries: retries
      )
    } catch {
      guard error.problemName == "context-id-time" else { throw error }
    }
    // The relay refuses the time in the id: the device's clock was wrong when it was made. Without an id the
    // relay makes one. If a page was opened with the refused one, the purchase names no context and no user,
    // and gets this context only if the relay learns the user in another way and guesses.
    return try await relay.post(
      plyContext: entry.plyContext, userID: entry.userID, id: nil, endpoint: endpoint, retries: retries)
  }

  /// Whether the context need not be posted again: the relay has it, or will refuse it again. What a proxy or
  /// a captive portal says in the relay's place is not the relay's refusal. A wrong key, an expired token and
  /// an app that the relay does not know yet can be corrected while the context waits.
  /// - Parameter isFirst: the relay may have no checkout for the price, and still accept the context.
  private static func isOver(_ result: PostResult, isFirst: Bool) -> Bool {
    guard case .failure(let error) = result else { return true }
    switch error {
    case .http(let failure):
      return !isFirst && error.problemName != nil && (400...499).contains(failure.status)
        && !error.isTransient && ![401, 403, 404].contains(failure.status)
    case .encoding: return true
    case .network, .notHTTP, .unexpectedAnswer, .noToken, .timedOut, .cancelled: return false
    }
  }

  // MARK: Repeating

  /// Posts what waits with growing pauses, while the app runs.
  func repeatLater() {
    state.withLock { state in
      guard state.repeating == nil, !state.entries.isEmpty else { return }
      state.repeating = Task { [weak self, clock = relay.clock] in
        var round = 1
        while let pause = self?.pause(after: round) {
          guard (try? await clock.sleep(seconds: pause)) != nil, let self else { return }
          await flush()
          round += 1
        }
      }
    }
  }

  /// Seconds until the next round; nil when nothing waits, and the rounds have ended.
  private func pause(after round: Int) -> TimeInterval? {
    let now = relay.clock.seconds
    return state.withLock { state in
      // Under the same lock, so that a context that comes now begins the rounds again.
      guard !state.entries.isEmpty,
        let pause = pace.pauses.pause(after: round, elapsed: 0, retryAfter: state.notBefore - now)
      else {
        state.repeating = nil
        return nil
      }
      return pause
    }
  }
}

// MARK: - KeptClaim

// The claim link that waits for its customer to sign in, in the outbox's folder.

extension CheckoutOutbox {
  /// The claim link that waits until the customer has signed in and has agreed; nil if there is none. It is
  /// kept across launches.
  public var keptClaim: ClaimLink? {
    state.withLock { state in
      if state.claim == nil { state.claim = folder?.claim() }
      return state.claim
    }
  }

  /// Keeps the link that opened the app. The latest one takes the place of an earlier one.
  public func keep(_ link: ClaimLink) {
    state.withLock { state in
      state.claim = link
      // If it cannot be stored, it is kept while the app runs; the customer has the link.
      folder?.save(claim: link)
    }
  }

  /// Drops the kept link, for a customer who does not want the purchase in this account.
  public func discardClaim() {
    state.withLock { state in
      state.claim = nil
      folder?.save(claim: nil)
    }
  }

  /// Claims a purchase as ``RelayClient/claim(_:userID:)`` does, and keeps its link until the relay has
  /// decided.
  public func claim(_ link: ClaimLink, userID: String) async throws(RelayError) -> ClaimResult {
    let result = try await relay.claim(link, userID: userID)
    // A newer link may have come meanwhile.
    if result.isFinal, keptClaim == link { discardClaim() }
    return result
  }
}
