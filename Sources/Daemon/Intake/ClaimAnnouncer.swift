// Announces paid purchases without a user to the apps' webhooks, so that a merchant can send the customer a
// mail with the claim's link. One thread with its own connection and transfers. It must never write: what it
// begins and ends goes to the committer.

internal import Config
internal import Domain
internal import HTTPClient
internal import Partners
internal import Platform
internal import Service
internal import Store

/// Sends `purchase.unclaimed` to webhooks. Thread-safe.
final class ClaimAnnouncer: NetworkWorker {
  /// The most requests under way, of all apps together.
  static let transfersMax = 8
  /// The pause before a retry after the database could not be read or written.
  static let faultPause: Duration = .seconds(1)

  /// Messages from other threads.
  struct Inbox: WorkerInbox {
    /// When the next announcement of an app is due.
    var dueAt: [AppSlug: Timestamp] = [:]
    /// What is to be sent, or that nothing is; the writer could not store it if it is not `isStored`.
    var begun: [(app: AppSlug, receipt: ReceiptID, announcement: ClaimAnnouncement?, isStored: Bool)] = []
    var directory: AppDirectory?
    var checksAll = false
    var isStopping = false
  }

  let worker: Worker<Inbox>
  let parts: WorkerParts

  init(_ parts: WorkerParts) {
    let transport = parts.transport
    worker = Worker("announcer", inbox: Inbox()) { transport.wake() }
    self.parts = parts
  }

  func drive<Failure: Error>(_ body: (inout ClaimAnnouncerRun) throws(Failure) -> Void) throws(Failure) {
    try parts.withReader { reader throws(Failure) in
      var run = ClaimAnnouncerRun(self, reader: reader)
      try body(&run)
    }
  }

  /// Notes that announcements are due at these times.
  func note(dueAt: [AppSlug: Timestamp]) {
    guard !dueAt.isEmpty else { return }
    worker.post { inbox in inbox.dueAt.merge(dueAt) { min($0, $1) } }
  }

  /// Checks all apps, because another process changed the database, or an app has another owner.
  func checkAll() { worker.post { $0.checksAll = true } }

  /// Installs new apps and settings.
  func use(_ directory: AppDirectory) { worker.post { $0.directory = directory } }
}

// MARK: - Steps

// The steps of the announcer, and its state. The announcer's thread.

/// One run of the announcer, from start to stop.
struct ClaimAnnouncerRun: NetworkRun {
  /// A request under way.
  struct Call {
    var app: AppSlug
    var announcement: ClaimAnnouncement
    var destination: any ReceiptDestination
    /// The generation of the configuration that it was sent with.
    var generation: Int
  }

  private let parts: WorkerParts
  private let worker: Worker<ClaimAnnouncer.Inbox>
  private let reader: StoreReader
  private var directory: AppDirectory
  /// Counts the configurations.
  private var generation = 0
  var transfers: Transfers<Call>
  /// When the next announcement of an app is due; no entry if there is none.
  private var dueAt: [AppSlug: Timestamp] = [:]
  /// The receipts whose announcement is being begun or sent.
  private var underWay: Set<ReceiptID> = []
  private var lookAt: MonotonicInstant

  init(_ owner: ClaimAnnouncer, reader: StoreReader) {
    parts = owner.parts
    worker = owner.worker
    self.reader = reader
    directory = parts.directory
    transfers = Transfers(parts.transport)
    lookAt = parts.dependencies.clock.monotonic
  }

  private var now: Timestamp { Timestamp(unixMilliseconds: parts.dependencies.clock.wallMilliseconds) }
  private var monotonic: MonotonicInstant { parts.dependencies.clock.monotonic }

  /// The webhook that an app announces to; nil if it announces nothing.
  private func route(_ app: App) -> DeliveryRoute? {
    guard app.claims.announces, parts.ownership.lease(of: app.slug) != nil else { return nil }
    return app.routes.first { $0.name == WebhookDestination.name }
  }

  mutating func step() -> Duration? {
    let news = worker.dequeueAll(leaving: ClaimAnnouncer.Inbox())
    // What is under way is due again in the database.
    if news.isStopping { return nil }
    if let directory = news.directory { use(directory) }
    dueAt.merge(news.dueAt) { min($0, $1) }
    if news.checksAll || news.directory != nil || monotonic >= lookAt {
      lookAt = monotonic.advanced(by: parts.dependencies.lookInterval)
      for app in directory.slugs { dueAt[app] = now }
    }
    for (app, receipt, announcement, isStored) in news.begun {
      if let announcement { send(announcement, app) } else { underWay.remove(receipt) }
      if !isStored { dueAt[app] = now + ClaimAnnouncer.faultPause }
    }
    for (slug, moment) in dueAt where moment <= now { begin(slug) }
    let wait = dueAt.values.min().map { max(.zero, $0.duration(since: now)) } ?? .seconds(3600)
    return min(wait, parts.dependencies.lookInterval)
  }

  private mutating func use(_ directory: AppDirectory) {
    self.directory = directory
    generation += 1
    for app in directory.apps.values where route(app) != nil {
      // If this is not stored, they keep their times.
      _ = parts.committer.submit(RetryAnnouncements(app.slug), from: .internal) { _ in }
    }
  }

  /// Begins the announcements of an app that are due.
  private mutating func begin(_ slug: AppSlug) {
    dueAt[slug] = nil
    guard let app = directory[slug], route(app) != nil else { return }
    let room = ClaimAnnouncer.transfersMax - underWay.count
    do throws(StoreFault) {
      let due = try reader.dueAnnouncements(of: slug, now: now, limit: ClaimAnnouncer.transfersMax)
      for id in due.filter({ !underWay.contains($0) }).prefix(max(0, room)) { begin(id, app) }
      dueAt[slug] = try reader.nextAnnouncement(of: slug, after: now)
    } catch {
      parts.logFault("could not read the due announcements; trying again", error, app: slug)
      dueAt[slug] = now + ClaimAnnouncer.faultPause
    }
  }

  private mutating func begin(_ id: ReceiptID, _ app: App) {
    underWay.insert(id)
    let command = BeginAnnouncement(
      id, app: app.slug, lifetime: app.claims.lifetime, retry: app.delivery.retry,
      timeout: app.delivery.timeout)
    let (worker, slug) = (worker, app.slug)
    let isQueued = parts.committer.submit(WhileConfigured(slug, command), from: .internal) { result in
      let announcement = (try? result.get()).flatMap(\.self).flatMap(\.self)
      let isStored = if case .success = result { true } else { false }
      worker.post { $0.begun.append((slug, id, announcement, isStored)) }
    }
    if !isQueued { underWay.remove(id) }
  }

  private mutating func send(_ announcement: ClaimAnnouncement, _ slug: AppSlug) {
    guard let app = directory[slug], let destination = route(app)?.destination,
      let message = destination.announcement(
        of: announcement, url: app.links?.claimURL(announcement.token, slug: slug), sentAt: now)
    else { return end(announcement, slug, .failed) }
    let request = TransferRequest(
      method: .post, url: destination.url,
      headers: message.headers.map { TransferHeader($0.name, $0.value) }, body: message.body,
      timeout: app.delivery.timeout, connectTimeout: app.delivery.connectTimeout
    ).with(destination.certificates)
    do throws(TransferFailure) {
      try transfers.start(
        request,
        for: Call(app: slug, announcement: announcement, destination: destination, generation: generation))
    } catch {
      log(error.rawValue, slug)
      end(announcement, slug, .failed)
    }
  }

  mutating func finish(_ call: Call, _ result: TransferResult) {
    switch call.destination.verdict(on: DeliveryAnswer(result), now: now) {
    case .delivered:
      parts.metrics.claims.increment(call.app.text, "announced")
      end(call.announcement, call.app, .accepted)
    case .refused(let reason):
      log(reason.text, call.app)
      // A webhook that a reload may have replaced does not decide for the present one.
      end(call.announcement, call.app, call.generation == generation ? .refused : .failed)
    case .retry(let reason, _), .coolDown(let reason, _), .misconfigured(let reason):
      log(reason.text, call.app)
      let isInDoubt = result.status == nil && result.requestWasSent
      end(call.announcement, call.app, isInDoubt ? .inDoubt : .failed)
    }
  }

  private func log(_ reason: String, _ app: AppSlug) {
    guard let count = parts.faultLines.admit("\(app) announcement", now: monotonic) else { return }
    parts.dependencies.log.warning(
      "the webhook did not accept the announcement of a purchase without a user; see apps.\(app).webhook",
      ["app": app.text, "reason": reason, "left_out": count > 0 ? String(count) : nil])
  }

  private mutating func end(
    _ announcement: ClaimAnnouncement, _ app: AppSlug, _ result: EndAnnouncement.Result
  ) {
    underWay.remove(announcement.receiptID)
    // If this is not stored, the announcement is sent again, with another claim.
    _ = parts.committer.submit(EndAnnouncement(announcement, app: app, result), from: .internal) { _ in }
    dueAt[app] = now
  }
}
