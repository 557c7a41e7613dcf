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
  ///   - pages: the checkout page of a context's price, without the id, for the case that the relay cannot be
  ///     reached; nil if there is none. It must be a page that passes `client_reference_id` to the payment
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
    guard ExternalLink(url) == .browser, !parts.fields.contains(where: { $0.name == name }) else {
      return nil
    }
    let whole = url.absoluteString
    let address = whole.prefix { $0 != "#" }
    let separator = !address.contains("?") ? "?" : address.hasSuffix("?") || address.hasSuffix("&") ? "" : "&"
    return URL(string: "\(address)\(separator)\(name)=\(id)\(whole.dropFirst(address.count))")
  }

  func report(_ outcome: Outcome) { onOutcome(outcome) }
}
