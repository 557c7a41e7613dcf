// The lookup worker: asks processors for data that events left out, and for events from the time that
// receiptd was down. One thread with its own connection and transfers, so that it delays no webhook and no
// delivery (R11). It must never write: results go to the committer.

internal import Domain
internal import HTTPClient
internal import Partners
internal import Platform
internal import Reports
internal import Service
internal import Store

/// Sends queries to the payment processors. Thread-safe.
final class LookupWorker: NetworkWorker {
  /// The most queries under way, of all apps together.
  static let transfersMax = 64
  /// The pause before a retry after the database could not be read or written.
  static let faultPause: Duration = .seconds(1)

  /// Messages from other threads.
  struct Inbox: WorkerInbox {
    var dueAt: [AppProcessor: Timestamp] = [:]
    /// Lookups whose results are on disk, or could not be stored.
    var stored: [(place: AppProcessor, row: PurchaseRowID, isStored: Bool)] = []
    /// Slices of fetched events with their outcomes; nil if they could not be stored.
    var ingested: [(place: AppProcessor, generation: Int, outcomes: [IngestEvent.Outcome]?)] = []
    var plans: [PlanLookups] = []
    var retries: [RetryFetches] = []
    var hasBackfills = false
    var directory: AppDirectory?
    var checksAll = false
    var isStopping = false
  }

  let worker: Worker<Inbox>
  let parts: WorkerParts
  /// How often the database gets a timestamp that receiptd is running.
  let noteServiceInterval: Duration

  init(_ parts: WorkerParts, noteServiceInterval: Duration = .seconds(60)) {
    let transport = parts.transport
    worker = Worker("lookups", inbox: Inbox()) { transport.wake() }
    self.parts = parts
    self.noteServiceInterval = noteServiceInterval
  }

  func drive<Failure: Error>(_ body: (inout LookupRun) throws(Failure) -> Void) throws(Failure) {
    try parts.withReader { reader throws(Failure) in
      var run = LookupRun(self, reader: reader)
      try body(&run)
    }
  }

  /// Notes that lookups are due at these times.
  func note(lookupsDueAt dueAt: [AppProcessor: Timestamp]) {
    guard !dueAt.isEmpty else { return }
    worker.post { inbox in inbox.dueAt.merge(dueAt) { min($0, $1) } }
  }

  /// Checks all apps, because another process changed the database.
  func checkAll() { worker.post { $0.checksAll = true } }

  /// Installs new apps and settings.
  func use(_ directory: AppDirectory) { worker.post { $0.directory = directory } }
}

// MARK: - Steps

// The steps of the lookup worker, and its state. The lookup worker's thread.

/// One run of the lookup worker, from start to stop.
struct LookupRun: NetworkRun {
  /// A query under way.
  enum PendingQuery {
    case lookup(PendingLookup)
    /// - generation: the generation of the configuration that it uses.
    case page(AppProcessor, generation: Int)

    var place: AppProcessor {
      switch self {
      case .lookup(let query): query.place
      case .page(let place, _): place
      }
    }

    var generation: Int {
      switch self {
      case .lookup(let query): query.generation
      case .page(_, let generation): generation
      }
    }

    /// Whether a refusal says nothing about other queries.
    var isOptional: Bool {
      if case .lookup(let query) = self { query.asked?.isOptional ?? false } else { false }
    }
  }

  let parts: WorkerParts
  let worker: Worker<LookupWorker.Inbox>
  let reader: StoreReader
  let clock: any Clock
  let log: Log
  /// By app and processor, for those with an API to ask.
  var appLookups: [AppProcessor: AppLookups] = [:]
  var directory: AppDirectory
  var transfers: Transfers<PendingQuery>
  private var lookAt: MonotonicInstant
  private let noteServiceInterval: Duration
  private var noteServiceAt: MonotonicInstant
  /// Whether the database has recorded that receiptd is running again.
  private var hasBegun = false
  /// Counts the configurations of all apps together, so that an app that was removed and added again does not
  /// repeat one.
  private var lastGeneration = 0

  init(_ owner: LookupWorker, reader: StoreReader) {
    parts = owner.parts
    worker = owner.worker
    self.reader = reader
    directory = parts.directory
    clock = parts.dependencies.clock
    log = parts.dependencies.log
    noteServiceInterval = owner.noteServiceInterval
    transfers = Transfers(parts.transport)
    lookAt = clock.monotonic
    noteServiceAt = clock.monotonic
    use(directory)
  }

  var now: Timestamp { Timestamp(unixMilliseconds: clock.wallMilliseconds) }
  var monotonic: MonotonicInstant { clock.monotonic }

  mutating func step() -> Duration? {
    if readInbox() { return nil }
    recordService()
    let owned = appLookups.keys.filter { parts.ownership.lease(of: $0.app) != nil }
    for place in owned {
      do throws(StoreFault) {
        try lookUp(place)
      } catch {
        // The other apps go on, because one row of this app may be unreadable (R11).
        parts.logFault("could not read the due lookups; trying again", error, app: place.app)
        let again = monotonic.advanced(by: LookupWorker.faultPause)
        appLookups[place]?.readsAgainAt = again
      }
    }
    for place in owned { continueBackfill(place) }
    return sleepTime()
  }

  private func sleepTime() -> Duration {
    var sleep = min(
      parts.dependencies.lookInterval, max(.zero, noteServiceAt.duration(since: monotonic)))
    for (place, known) in appLookups where parts.ownership.lease(of: place.app) != nil {
      var lookups = known
      if let wait = lookups.waitTime(now: now, monotonic: monotonic) { sleep = min(sleep, wait) }
    }
    return sleep
  }

  /// - Returns: whether to stop.
  private mutating func readInbox() -> Bool {
    let news = worker.dequeueAll(leaving: LookupWorker.Inbox())
    // Lookups under way stay due in the database.
    if news.isStopping { return true }
    if let directory = news.directory { use(directory) }
    for (place, moment) in news.dueAt {
      if let known = appLookups[place] { appLookups[place]?.dueAt = min(known.dueAt ?? moment, moment) }
    }
    for (place, row, isStored) in news.stored {
      appLookups[place]?.underWay.remove(row)
      // The purchase may be due again, because what it lacks may have changed during the lookup.
      checkSoon(place)
      if !isStored { rest(place, for: LookupWorker.faultPause) }
    }
    for plan in news.plans { submit(plan) }
    for retry in news.retries { submit(retry) }
    for (place, generation, outcomes) in news.ingested where appLookups[place]?.generation == generation {
      note(ingested: outcomes, place)
    }
    let looksAgain = monotonic >= lookAt
    if looksAgain {
      lookAt = monotonic.advanced(by: parts.dependencies.lookInterval)
    }
    if news.hasBackfills {
      hasBegun = true
      beginBackfills()
    }
    if news.checksAll || looksAgain { for place in appLookups.keys { checkSoon(place) } }
    return false
  }

  /// Makes the next step read the due lookups of an app.
  mutating func checkSoon(_ place: AppProcessor) {
    let now = now
    appLookups[place]?.dueAt = now
  }

  /// Pauses an app's queries to a processor.
  mutating func rest(_ place: AppProcessor, for duration: Duration) {
    let monotonic = monotonic
    appLookups[place]?.rest(for: duration, monotonic)
  }

  /// Whether an app may send one more query; acquires a token if so.
  mutating func mayAsk(_ place: AppProcessor) -> Bool {
    let monotonic = monotonic
    return appLookups[place]?.mayAsk(monotonic) ?? false
  }

  private mutating func use(_ directory: AppDirectory) {
    self.directory = directory
    lastGeneration += 1
    appLookups = appLookups.filter { directory[$0.key.app]?.apis[$0.key.processor] != nil }
    for app in directory.apps.values where !app.apis.isEmpty {
      for api in app.apis.values {
        if appLookups[api.place] == nil {
          appLookups[api.place] = AppLookups(
            api, generation: lastGeneration, now: now, monotonic: monotonic)
        } else {
          let (generation, now) = (lastGeneration, now)
          appLookups[api.place]?.use(api, generation: generation, now: now)
        }
      }
      for processor in app.apis.keys {
        let place = AppProcessor(app.slug, processor)
        for reason in Lookup.reasons { submit(PlanLookups(place, reason: reason)) }
        // A start keeps the pauses; a reload may have corrected a key.
        if lastGeneration > 1 { submit(RetryFetches(place)) }
      }
    }
    if hasBegun { beginBackfills() }
  }

  private func submit(_ plan: PlanLookups) {
    let worker = worker
    _ = parts.committer.submit(plan, from: .internal) { result in
      // A failed plan is repeated at the next start.
      if case .success(let next?) = result { worker.post { $0.plans.append(next) } }
    }
  }

  private func submit(_ retry: RetryFetches) {
    let worker = worker
    _ = parts.committer.submit(retry, from: .internal) { result in
      // After a fault they keep their times.
      if case .success(true) = result { worker.post { $0.retries.append(retry) } }
    }
  }

  /// Records in the database, at intervals, that receiptd is running, so that the next start knows how long
  /// it was down. The first call reads this from the previous run.
  private mutating func recordService() {
    guard monotonic >= noteServiceAt else { return }
    noteServiceAt = monotonic.advanced(by: noteServiceInterval)
    guard hasBegun else { return begin() }
    // The result is ignored: the next timestamp follows after the same interval.
    _ = parts.committer.submit(NoteService(), from: .internal) { _ in }
  }
}

extension LookupRun {
  /// Sends a query.
  mutating func ask(_ query: PendingQuery, _ request: TransferRequest) -> Bool {
    do throws(TransferFailure) {
      try transfers.start(request, for: query)
    } catch {
      guard let lookups = appLookups[query.place] else { return false }
      let answer: QueryAnswer =
        switch error {
        case .refusedURL, .refusedHeader: .refused(error.rawValue)
        default: .failed(error.rawValue, retryAfter: nil)
        }
      _ = handle(answer, lookups.api)
      return false
    }
    appLookups[query.place]?.open += 1
    return true
  }

  mutating func finish(_ query: PendingQuery, _ result: TransferResult) {
    // The app was removed: ignore the answer.
    guard let lookups = appLookups[query.place] else { return }
    appLookups[query.place]?.open = max(0, lookups.open - 1)
    var answer = lookups.api.judge(result, now: now)
    if query.isOptional, case .refused = answer, let status = result.status, (400..<500).contains(status) {
      answer = .notFound([])
    }
    let isOrderly = query.generation == lookups.generation && handle(answer, lookups.api)
    switch query {
    case .lookup(let query): finish(query, answer, isOrderly: isOrderly)
    case .page(let place, let generation):
      if generation == lookups.generation { finishPage(answer, place) }
    }
  }

  /// Applies an answer to the app's rest and failure count.
  /// - Returns: whether it answers the query itself.
  private mutating func handle(_ answer: QueryAnswer, _ api: ProcessorAPI) -> Bool {
    let (app, place) = (api.app, api.place)
    let failures = (appLookups[place]?.failures ?? 0) + 1
    func pause(_ retryAfter: Duration?) -> Duration {
      Lookup.rest(failures: failures, retryAfter: retryAfter)
    }
    switch answer {
    case .body, .notFound:
      appLookups[place]?.succeed()
      return true
    case .limited(let retryAfter):
      appLookups[place]?.failures = failures
      rest(place, for: pause(retryAfter))
      log.info("the processor limits requests", ["app": app.text, "processor": api.processorName.text])
    case .failed(let word, let retryAfter):
      appLookups[place]?.failures = failures
      rest(place, for: pause(retryAfter))
      log.info(
        "could not ask the processor; trying again",
        ["app": app.text, "processor": api.processorName.text, "reason": word])
    case .refused(let word):
      rest(place, for: Lookup.refusedRest)
      guard appLookups[place]?.isRefused == false else { break }
      appLookups[place]?.isRefused = true
      let advice = directory[app]?.processorAdvice[api.processorName]?.correction(of: app)
      log.warning(
        "the processor refuses the key or the request: nothing is looked up; trying again every few minutes"
          + (advice.map { ". \($0)" } ?? ""),
        ["app": app.text, "processor": api.processorName.text, "reason": word])
    }
    return false
  }
}

// MARK: - Backfill

// Fetches the events from the time that receiptd was down out of the processor's list. The database records
// which apps need this until it is done, so an interrupted backfill starts again. The lookup worker's thread.

extension LookupRun {
  /// Events per transaction; webhooks wait a few milliseconds for one.
  static let slice = 50

  /// Records that receiptd is running again, and learns how long it was down.
  func begin() {
    var places: [AppProcessor: Duration] = [:]
    for place in appLookups.keys { places[place] = backfillAfter(place) }
    let command = NoteService(backfillAfter: places)
    let (worker, parts) = (worker, parts)
    _ = parts.committer.submit(command, from: .internal) { result in
      switch result {
      case .success: worker.post { $0.hasBackfills = true }
      case .failure(let error):
        parts.logFault("could not store that receiptd is running; trying again", error)
      }
    }
  }

  /// The shortest downtime after which events are fetched; nil for never.
  private func backfillAfter(_ place: AppProcessor) -> Duration? {
    directory[place.app]?.backfillAfter[place.processor]
  }

  /// Starts the backfills that the database lists.
  mutating func beginBackfills() {
    do throws(StoreFault) {
      for (place, since) in try reader.backfills() where backfillAfter(place) != nil {
        guard let lookups = appLookups[place], lookups.backfill == nil else { continue }
        // After retention has deleted a receipt, the id of its purchase is kept for this long, so that no
        // event makes a second receipt (R2).
        let earliest = now - lookups.api.eventsKept
        let lists = lookups.api.eventLists(since: max(since, earliest), undeliveredOnly: true)
        appLookups[place]?.backfill = AppLookups.Backfill(since: since, lists: lists)
        log.info(
          "fetching the events that could not be delivered while receiptd was down",
          [
            "app": place.app.text, "processor": place.processor.text,
            "since": RFC3339.string(unixMilliseconds: since.unixMilliseconds),
          ])
      }
    } catch {
      parts.logFault(
        "could not read the list of backfills; the next start or reload tries again", error)
    }
  }

  /// Fetches the next page, or stores the next slice of the last one.
  mutating func continueBackfill(_ place: AppProcessor) {
    guard let lookups = appLookups[place], let backfill = lookups.backfill, !backfill.isBusy else { return }
    if let rest = lookups.restsUntil, monotonic < rest { return }
    if !backfill.events.isEmpty { return store(backfill, place) }
    guard let list = backfill.lists.first else { return conclude(backfill, place) }
    guard mayAsk(place) else { return }
    if ask(.page(place, generation: lookups.generation), lookups.api.request(list)) {
      appLookups[place]?.backfill?.isBusy = true
    }
  }

  mutating func finishPage(_ answer: QueryAnswer, _ place: AppProcessor) {
    appLookups[place]?.backfill?.isBusy = false
    guard let lookups = appLookups[place], var backfill = lookups.backfill, var list = backfill.lists.first,
      case .body(let body) = answer
    else { return restAfterNoList(answer, place) }
    guard let events = lookups.api.read(page: body, of: &list, now: now) else {
      log.warning(
        "the processor's answer is not a list of events",
        ["app": place.app.text, "processor": place.processor.text])
      rest(place, for: Lookup.refusedRest)
      return
    }
    if list.isAtEnd { backfill.lists.removeFirst() } else { backfill.lists[0] = list }
    backfill.events = events
    backfill.listed += events.count
    appLookups[place]?.backfill = backfill
  }

  /// A missing list means a wrong `api_base`. All other failures have set a rest already.
  private mutating func restAfterNoList(_ answer: QueryAnswer, _ place: AppProcessor) {
    guard case .notFound = answer else { return }
    log.warning(
      "the processor has no list of events at api_base",
      ["app": place.app.text, "processor": place.processor.text])
    rest(place, for: Lookup.refusedRest)
  }

  /// Submitted like webhooks, so that a full queue refuses it, too.
  private mutating func store(_ backfill: AppLookups.Backfill, _ place: AppProcessor) {
    let command = WhileConfigured(place.app, CommandList(Array(backfill.events.prefix(Self.slice))))
    let (worker, generation) = (worker, appLookups[place]?.generation ?? 0)
    appLookups[place]?.backfill?.isBusy = true
    let isQueued = parts.committer.submit(command, from: .external(app: place.app)) { result in
      // Retried after any failure.
      let outcomes = (try? result.get()) ?? nil
      worker.post { $0.ingested.append((place, generation, outcomes)) }
    }
    if !isQueued { note(ingested: nil, place) }
  }

  mutating func note(ingested outcomes: [IngestEvent.Outcome]?, _ place: AppProcessor) {
    guard var backfill = appLookups[place]?.backfill else { return }
    backfill.isBusy = false
    if let outcomes {
      for (event, outcome) in zip(backfill.events, outcomes) {
        guard case .stored(let became) = outcome else { continue }
        parts.metrics.events.increment(place.app.text, event.processor.text, became.rawValue)
        backfill.missing += 1
        if became == .receipt { backfill.receipts += 1 }
      }
      backfill.events.removeFirst(min(outcomes.count, backfill.events.count))
    } else {
      rest(place, for: LookupWorker.faultPause)
    }
    appLookups[place]?.backfill = backfill
  }

  private mutating func conclude(_ backfill: AppLookups.Backfill, _ place: AppProcessor) {
    appLookups[place]?.backfill = nil
    log.info(
      "fetched the events of the time that receiptd was down",
      [
        "app": place.app.text, "processor": place.processor.text, "events": String(backfill.listed),
        "missing": String(backfill.missing), "receipts": String(backfill.receipts),
      ])
    // If this is not stored, the next start fetches the events again, which changes nothing.
    _ = parts.committer.submit(NoteBackfilled(place, since: backfill.since), from: .internal) { _ in }
  }
}
