// Fetches the events from the time that receiptd was down out of the processor's list. The database records
// which apps need this until it is done, so an interrupted backfill starts again. The lookup worker's thread.

internal import Apps
internal import Domain
internal import Persistence
internal import Platform
internal import Store
internal import Telemetry

extension EnquirerRun {
  /// Events per transaction; webhooks wait a few milliseconds for one.
  static let slice = 50

  /// Records that receiptd is running again, and learns how long it was down.
  func begin() {
    var backfillAfter: [AppProcessor: Int64] = [:]
    for place in desks.keys { backfillAfter[place] = backfillAfterMilliseconds(place) }
    let command = NoteService(backfillAfterMilliseconds: backfillAfter)
    let (enquirer, log) = (enquirer, log)
    _ = enquirer.committer.submit(command, from: .inside) { result in
      switch result {
      case .success: enquirer.worker.post { $0.hasBackfills = true }
      case .failure(let error):
        log.error("could not note that receiptd serves", ["error": error.description])
      }
    }
  }

  /// The shortest downtime after which events are fetched; nil for never.
  private func backfillAfterMilliseconds(_ place: AppProcessor) -> Int64? {
    directory[place.app]?.backfillAfterMilliseconds[place.processor]
  }

  /// Starts the backfills that the database lists.
  mutating func beginBackfills() {
    do throws(StoreFault) {
      for (place, since) in try reader.backfills() where backfillAfterMilliseconds(place) != nil {
        guard let desk = desks[place], desk.backfill == nil else { continue }
        // After retention has deleted a receipt, the id of its purchase is kept for this long, so that no
        // event makes a second receipt (R3).
        let earliest = now.advanced(byMilliseconds: -desk.enquiry.eventsKeptMilliseconds)
        let lists = desk.enquiry.eventLists(since: max(since, earliest), undeliveredOnly: true)
        desks[place]?.backfill = EnquiryDesk.Backfill(since: since, lists: lists)
        log.info(
          "fetching the events that could not be delivered while receiptd was down",
          ["app": place.app, "since": RFC3339.string(unixMilliseconds: since.unixMilliseconds)])
      }
    } catch {
      log.error("could not read which events are to be fetched", ["error": error.description])
    }
  }

  /// Fetches the next page, or stores the next slice of the last one.
  mutating func goOnWithBackfill(_ place: AppProcessor) {
    guard let desk = desks[place], let backfill = desk.backfill, !backfill.isBusy else { return }
    if let rest = desk.restsUntil, monotonic < rest { return }
    if !backfill.events.isEmpty { return store(backfill, place) }
    guard let list = backfill.lists.first else { return conclude(backfill, place) }
    guard mayAsk(place) else { return }
    if ask(.page(place, edition: desk.edition), desk.enquiry.request(list)) {
      desks[place]?.backfill?.isBusy = true
    }
  }

  mutating func finishPage(_ answer: QueryAnswer, _ place: AppProcessor) {
    desks[place]?.backfill?.isBusy = false
    guard let desk = desks[place], var backfill = desk.backfill, var list = backfill.lists.first,
      case .body(let body) = answer
    else { return restAfterNoList(answer, place) }
    guard let events = desk.enquiry.take(page: body, of: &list, now: now) else {
      log.warning("the processor answered with something else than a list of events", ["app": place.app])
      rest(place, for: LookUp.refusedRestMilliseconds)
      return
    }
    if list.isAtEnd { backfill.lists.removeFirst() } else { backfill.lists[0] = list }
    backfill.events = events
    backfill.listed += events.count
    desks[place]?.backfill = backfill
  }

  /// A missing list means a wrong `api_base`. All other failures have set a rest already.
  private mutating func restAfterNoList(_ answer: QueryAnswer, _ place: AppProcessor) {
    guard answer == .notFound else { return }
    log.warning("the processor has no list of events at api_base", ["app": place.app])
    rest(place, for: LookUp.refusedRestMilliseconds)
  }

  /// Submitted like webhooks, so that a full queue refuses it, too.
  private mutating func store(_ backfill: EnquiryDesk.Backfill, _ place: AppProcessor) {
    let command = WhileConfigured(place.app, CommandList(Array(backfill.events.prefix(Self.slice))))
    let (enquirer, edition) = (enquirer, desks[place]?.edition ?? 0)
    desks[place]?.backfill?.isBusy = true
    let isQueued = enquirer.committer.submit(command, from: .outside(app: place.app)) { result in
      // Retried after any failure.
      let outcomes = (try? result.get()) ?? nil
      enquirer.worker.post { $0.taken.append((place, edition, outcomes)) }
    }
    if !isQueued { note(taken: nil, place) }
  }

  mutating func note(taken outcomes: [TakeEvent.Outcome]?, _ place: AppProcessor) {
    guard var backfill = desks[place]?.backfill else { return }
    backfill.isBusy = false
    if let outcomes {
      for (event, outcome) in zip(backfill.events, outcomes) {
        guard case .stored(let became) = outcome else { continue }
        enquirer.metrics.events.increment(place.app, event.processor.rawValue, became.rawValue)
        backfill.missing += 1
        if became == .receipt { backfill.receipts += 1 }
      }
      backfill.events.removeFirst(min(outcomes.count, backfill.events.count))
    } else {
      rest(place, for: Enquirer.faultPauseMilliseconds)
    }
    desks[place]?.backfill = backfill
  }

  private mutating func conclude(_ backfill: EnquiryDesk.Backfill, _ place: AppProcessor) {
    desks[place]?.backfill = nil
    log.info(
      "fetched the events of the time that receiptd was down",
      [
        "app": place.app, "events": String(backfill.listed), "missing": String(backfill.missing),
        "receipts": String(backfill.receipts),
      ])
    // If this is not stored, the next start fetches the events again, which changes nothing.
    _ = enquirer.committer.submit(NoteBackfilled(place, since: backfill.since), from: .inside) { _ in }
  }
}
