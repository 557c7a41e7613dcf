// Fetches the events from the time that receiptd was down out of the processor's list. The database records
// which apps need this until it is done, so an interrupted backfill starts again. The lookup worker's thread.

internal import Domain
internal import Platform
internal import Service
internal import Store

extension LookupRun {
  /// Events per transaction; webhooks wait a few milliseconds for one.
  static let slice = 50

  /// Records that receiptd is running again, and learns how long it was down.
  func begin() {
    var places: [AppProcessor: Duration] = [:]
    for place in appLookups.keys { places[place] = backfillAfter(place) }
    let command = NoteService(backfillAfter: places)
    let lookupWorker = lookupWorker
    _ = lookupWorker.committer.submit(command, from: .internal) { result in
      switch result {
      case .success: lookupWorker.worker.post { $0.hasBackfills = true }
      case .failure(let error):
        lookupWorker.logFault("could not store that receiptd is running; trying again", error)
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
      lookupWorker.logFault(
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
    backfill.events = events.map { event in
      var event = event
      event.pack(with: lookupWorker.committer.packers.event)
      return event
    }
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
    let (lookupWorker, generation) = (lookupWorker, appLookups[place]?.generation ?? 0)
    appLookups[place]?.backfill?.isBusy = true
    let isQueued = lookupWorker.committer.submit(command, from: .external(app: place.app)) { result in
      // Retried after any failure.
      let outcomes = (try? result.get()) ?? nil
      lookupWorker.worker.post { $0.ingested.append((place, generation, outcomes)) }
    }
    if !isQueued { note(ingested: nil, place) }
  }

  mutating func note(ingested outcomes: [IngestEvent.Outcome]?, _ place: AppProcessor) {
    guard var backfill = appLookups[place]?.backfill else { return }
    backfill.isBusy = false
    if let outcomes {
      for (event, outcome) in zip(backfill.events, outcomes) {
        guard case .stored(let became) = outcome else { continue }
        lookupWorker.metrics.events.increment(place.app.text, event.processor.text, became.rawValue)
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
    _ = lookupWorker.committer.submit(NoteBackfilled(place, since: backfill.since), from: .internal) { _ in }
  }
}
