// Lookups: asks the processor for what a purchase lacks. The lookup worker's thread.

internal import Domain
internal import Partners
internal import Platform
internal import Service
internal import Store

/// A lookup of one purchase, under way.
struct PendingLookup {
  let place: AppProcessor
  /// The generation of the configuration that it uses.
  let generation: Int
  let due: DueLookup
  /// The query under way; nil before the first.
  var asked: ProcessorQuery?
  /// The queries to send if the one under way does not answer the lookup.
  var later: ArraySlice<ProcessorQuery>
  /// The answers so far.
  var reports: [PurchaseReport] = []
  /// What the object says that was fetched for an event, if it is no purchase.
  var said: EventReading.Content?

  /// Whether a report concerns this purchase.
  func concerns(_ report: PurchaseReport) -> Bool {
    if report.key == due.key { return true }
    guard let session = report.sessionID else { return false }
    return session == due.sessionID && report.key.processor == due.key.processor
  }

  /// What the lookup asks for: everything if an event asked for it (nil), otherwise what the receipt lacks.
  var lacking: Reason? { due.fetches > 0 ? nil : due.reason }

  /// Whether the purchase has what it waits for.
  var isAnswered: Bool {
    said != nil
      || reports.contains { report in
        switch lacking {
        case nil: true
        case .price: !report.prices.isEmpty && report.observations.decideSale
        // Whether a reference is a user, only the join knows.
        case .user: !report.namedContexts.isEmpty || report.names.contains { $0.standing == .counts }
        case .checkout: report.sessionID != nil || report.observations.contains(.soldWithoutCheckout)
        case .subscription: !report.isOfCheckoutOnly
        default: true
        }
      }
  }
}

extension LookupRun {
  /// Starts the due lookups of an app, as many as there is room for.
  mutating func lookUp(_ place: AppProcessor) throws(StoreFault) {
    guard let lookups = appLookups[place], let dueAt = lookups.dueAt, dueAt <= now, lookups.room > 0 else {
      return
    }
    if let rest = lookups.restsUntil, monotonic < rest {
      if lookups.isRefused { try endCheckoutWaits(place) }
      return
    }
    if let readsAgainAt = lookups.readsAgainAt, monotonic < readsAgainAt { return }
    let limit = lookups.room + lookups.underWay.count
    let due = try reader.dueLookups(place, now: now, limit: limit)
    var isCutShort = due.count >= limit
    for purchase in due where !lookups.underWay.contains(purchase.row) {
      var query = PendingLookup(place: place, generation: lookups.generation, due: purchase, later: [])
      var queries = lookups.api.queries.lookups(
        of: purchase.key, sessionID: purchase.sessionID, lacking: query.lacking)
      if query.lacking == .user, !queries.isEmpty, let customer = purchase.customerID {
        queries += [lookups.api.queries.lookup(ofCustomer: customer)].compactMap(\.self)
      }
      guard let first = queries.first else {
        // The processor cannot be asked about it. Unless that is stored as an answer, it stays due and takes
        // the place of others.
        appLookups[place]?.underWay.insert(purchase.row)
        let pause = Lookup.pause(attempts: purchase.attempts + 1, isUnknown: true)
        store(query, isFetched: true, nextAt: now.advanced(by: pause))
        continue
      }
      guard mayAsk(place) else {
        isCutShort = true
        break
      }
      query.asked = first
      query.later = queries.dropFirst()
      guard ask(.lookup(query), lookups.api.request(first)) else {
        isCutShort = true
        break
      }
      appLookups[place]?.underWay.insert(purchase.row)
    }
    let next = isCutShort ? now : try reader.nextLookup(place, after: now)
    appLookups[place]?.dueAt = next
  }

  /// While the processor refuses the key, no receipt waits longer than `settle` for its checkout's lookup.
  private mutating func endCheckoutWaits(_ place: AppProcessor) throws(StoreFault) {
    let due = try reader.dueLookups(place, now: now, limit: Self.refusedSlice)
    for purchase in due {
      guard let lookups = appLookups[place], !lookups.underWay.contains(purchase.row) else { continue }
      var query = PendingLookup(place: place, generation: lookups.generation, due: purchase, later: [])
      guard query.lacking == .checkout else { continue }
      appLookups[place]?.underWay.insert(purchase.row)
      query.reports = [.checkoutRefused(purchase.key, now: now)]
      store(query, isFetched: false, nextAt: now.advanced(by: Lookup.refusedRest))
    }
    let next = try reader.nextLookup(place, after: now)
    appLookups[place]?.dueAt = next
  }

  /// How many due lookups are looked through at once while the key is refused.
  private static let refusedSlice = 200

  mutating func finish(_ query: PendingLookup, _ answer: QueryAnswer, isOrderly: Bool) {
    var query = query
    guard let lookups = appLookups[query.place] else { return }
    if case .body(let body) = answer, query.lacking == nil {
      query.said = lookups.api.queries.event(from: body, about: query.due.key, now: now)
    }
    if query.said == nil,
      let report = report(in: answer, to: query, lookups.api.queries, isOrderly: isOrderly),
      query.concerns(report)
    {
      query.reports.append(report.readingContext)
    }
    if isOrderly, !query.isAnswered, let next = query.later.popFirst() {
      query.asked = next
      // The next query of the same lookup uses its place.
      if ask(.lookup(query), lookups.api.request(next)) { return }
    }
    parts.metrics.lookups.increment(
      query.place.app.text, query.place.processor.text, Self.label(query, answer))
    // A reload retries what failed before it: a failure that it may have corrected postpones nothing.
    let isCurrent = query.generation == lookups.generation
    if isCurrent, lookups.api.followsUp, query.due.fetches > 0, query.reports.isEmpty, answer.isRetried {
      return retryFetch(query)
    }
    let isNotFound = if case .notFound = answer { true } else { false }
    let isUnknown = isNotFound && query.reports.isEmpty
    if isCurrent, query.lacking == .checkout, query.reports.isEmpty, answer.isFinal {
      query.reports.append(.checkoutRefused(query.due.key, now: now))
    }
    guard isOrderly || !query.reports.isEmpty else {
      // The lookup stays due, and is repeated after the app's rest.
      appLookups[query.place]?.underWay.remove(query.due.row)
      checkSoon(query.place)
      return
    }
    let pause = Lookup.pause(attempts: query.due.attempts + 1, isUnknown: isUnknown)
    let isFetched = !query.reports.isEmpty || query.said != nil || isNotFound
    store(query, isFetched: isFetched, nextAt: now.advanced(by: pause))
  }

  /// The report about the purchase in an answer, if any. Only the capture worker decides whether a payment
  /// with an open capture exists: its next call may make it.
  /// - Parameter isOrderly: false also for an answer to a query of an earlier configuration, perhaps with
  ///   another account, which does not know the payment.
  private func report(
    in answer: QueryAnswer, to query: PendingLookup, _ queries: any ProcessorQueries, isOrderly: Bool
  ) -> PurchaseReport? {
    let due = query.due
    return switch answer {
    case .body(let body) where query.lacking == nil: queries.state(from: body, about: due.key, now: now)
    case .body(let body): queries.report(from: body, about: due.key, now: now)
    case .notFound(let body) where isOrderly && !due.hasOpenCapture:
      queries.report(
        fromNotFound: body, about: due.key, facts: due.facts, startedAt: due.startedAt, now: now)
    case .notFound, .limited, .refused, .failed: nil
    }
  }

  /// Plans the next fetch of a payment that got no answer about it. Each payment has its own pauses, besides
  /// the app's rest.
  private func retryFetch(_ query: PendingLookup) {
    if let pause = Lookup.fetchPause(attempts: query.due.attempts + 1) {
      return store(query, isFetched: false, nextAt: now.advanced(by: pause))
    }
    log.warning(
      "gave up fetching a payment: its processor gave no usable answer for a week. To ask again: "
        + "receiptctl payments fetch ID",
      [
        "app": query.place.app.text, "processor": query.place.processor.text, "object": query.due.key.id.text,
      ])
    // A receipt that waits for data is still looked up.
    let isWaiting = query.due.reason.map(Lookup.reasons.contains) ?? false
    store(query, isFetched: isWaiting, nextAt: isWaiting ? now : Lookup.never)
  }

  private func store(_ query: PendingLookup, isFetched: Bool, nextAt: Timestamp) {
    let command = IngestLookup(
      query.place, of: query.due.reference, asked: query.due.reason, fetches: query.due.fetches,
      isFetched: isFetched, reports: query.reports, said: query.said.map(IngestEvent.Content.init),
      nextAt: nextAt)
    let (worker, parts, log) = (worker, parts, log)
    let (place, row, object) = (query.place, query.due.row, query.due.key.id.text)
    let isReporter = appLookups[place]?.api.hasWebhooks ?? false
    let isQueued = parts.committer.submit(command, from: .internal) { result in
      var isStored = true
      switch result {
      case .success(let outcome):
        if isReporter, outcome.wasUnreported {
          parts.metrics.unreportedPayments.increment(place.app.text, place.processor.text)
        }
        if outcome.isUnread {
          log.warning(
            "could not read an event: the processor does not show its key what the event names. See: "
              + "receiptctl events list --outcome unparsed",
            ["app": place.app.text, "processor": place.processor.text, "object": object])
        }
      case .failure(let error):
        parts.logFault("could not store a lookup; asking again", error, app: place.app)
        isStored = false
      }
      worker.post { $0.stored.append((place, row, isStored)) }
    }
    if !isQueued { worker.post { $0.stored.append((place, row, false)) } }
  }

  /// The label of the lookup's outcome in metrics.
  static func label(_ query: PendingLookup, _ answer: QueryAnswer) -> String {
    switch answer {
    case .notFound: return "not_found"
    case _ where query.isAnswered: return "found"
    case .body: return "nothing"
    case .limited: return "limited"
    case .refused: return "refused"
    case .failed: return "failed"
    }
  }
}

extension PurchaseReport {
  fileprivate static func checkoutRefused(_ key: PurchaseKey, now: Timestamp) -> PurchaseReport {
    PurchaseReport(key: key, observations: .checkoutRefused, happenedAt: now)
  }
}

extension QueryAnswer {
  /// Whether the same request would get the same 4xx again.
  fileprivate var isFinal: Bool {
    switch self {
    case .notFound: true
    case .refused(let cause): cause.hasPrefix("http_4")
    case .body, .limited, .failed: false
    }
  }

  /// Whether another query may get another answer later: there was none, its body was not understood, or it
  /// was refused. A refused query must not stay first in line, or no other would ever be sent.
  fileprivate var isRetried: Bool {
    switch self {
    case .body, .failed, .refused: true
    case .notFound, .limited: false
    }
  }
}
