// Lookups: asks the processor for what a purchase lacks. The lookup worker's thread.

internal import Apps
internal import Domain
internal import Persistence
internal import Platform
internal import Processors
internal import Store
internal import Telemetry

/// A lookup of one purchase, under way.
struct LookUpQuestion {
  let place: AppProcessor
  /// The generation of the configuration that it uses.
  let edition: Int
  let due: DueLookUp
  /// The queries to send if the one under way does not answer the lookup.
  var later: ArraySlice<ProcessorQuery>
  /// The answers so far.
  var reports: [PurchaseReport] = []

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
    reports.contains { report in
      switch lacking {
      case nil: true
      case .price: !report.prices.isEmpty
      case .user: report.referencedUser != nil || report.namedUser != nil || !report.namedContexts.isEmpty
      case .checkout: report.sessionID != nil || report.observations.contains(.soldWithoutCheckout)
      case .subscription: !report.isOfCheckoutOnly
      default: true
      }
    }
  }
}

extension EnquirerRun {
  /// Starts the due lookups of an app, as many as there is room for.
  mutating func lookUp(_ place: AppProcessor) throws(StoreFault) {
    guard let desk = desks[place], let asksAt = desk.asksAt, asksAt <= now, desk.room > 0 else { return }
    if let rest = desk.restsUntil, monotonic < rest { return }
    let limit = desk.room + desk.underWay.count
    let due = try reader.dueLookUps(place, now: now, limit: limit)
    var isCutShort = due.count >= limit
    for purchase in due where !desk.underWay.contains(purchase.row) {
      var question = LookUpQuestion(place: place, edition: desk.edition, due: purchase, later: [])
      let queries = desk.enquiry.queries.lookUps(
        of: purchase.key, sessionID: purchase.sessionID, lacking: question.lacking)
      guard let first = queries.first else { continue }
      guard mayAsk(place) else {
        isCutShort = true
        break
      }
      question.later = queries.dropFirst()
      guard ask(.lookUp(question), desk.enquiry.request(first)) else {
        isCutShort = true
        break
      }
      desks[place]?.underWay.insert(purchase.row)
    }
    let next = isCutShort ? now : try reader.nextLookUp(place, after: now)
    desks[place]?.asksAt = next
  }

  mutating func finish(_ question: LookUpQuestion, _ answer: QueryAnswer, isOrderly: Bool) {
    var question = question
    guard let desk = desks[question.place] else { return }
    if case .body(let body) = answer,
      let report = desk.enquiry.queries.report(from: body, about: question.due.key, now: now),
      question.concerns(report)
    {
      question.reports.append(report.readingContext)
    }
    if isOrderly, !question.isAnswered, let next = question.later.popFirst() {
      // The next query of the same lookup uses its place.
      if ask(.lookUp(question), desk.enquiry.request(next)) { return }
    }
    enquirer.metrics.lookUps.increment(question.place.app, Self.label(question, answer))
    guard isOrderly || !question.reports.isEmpty else {
      // The lookup stays due, and is repeated after the app's rest.
      desks[question.place]?.underWay.remove(question.due.row)
      lookSoon(question.place)
      return
    }
    let pause = LookUp.pauseMilliseconds(
      tries: question.due.tries + 1, isUnknown: answer == .notFound && question.reports.isEmpty)
    let isFetched = !question.reports.isEmpty || answer == .notFound
    store(question, isFetched: isFetched, nextAt: now.advanced(byMilliseconds: pause))
  }

  private func store(_ question: LookUpQuestion, isFetched: Bool, nextAt: Timestamp) {
    let command = TakeLookUp(
      question.place, row: question.due.row, asked: question.due.reason, fetches: question.due.fetches,
      isFetched: isFetched, reports: question.reports, nextAt: nextAt)
    let (enquirer, log) = (enquirer, log)
    let (place, row) = (question.place, question.due.row)
    let isQueued = enquirer.committer.submit(command, from: .inside) { result in
      var isStored = true
      if case .failure(let error) = result {
        log.error("could not store a look-up; asking again", ["app": place.app, "error": error.description])
        isStored = false
      }
      enquirer.worker.post { $0.settled.append((place, row, isStored)) }
    }
    if !isQueued { enquirer.worker.post { $0.settled.append((place, row, false)) } }
  }

  /// The label of the lookup's outcome in metrics.
  static func label(_ question: LookUpQuestion, _ answer: QueryAnswer) -> String {
    if question.isAnswered { return "found" }
    switch answer {
    case .body: return "nothing"
    case .notFound: return "not_found"
    case .limited: return "limited"
    case .refused: return "refused"
    case .failed: return "failed"
    }
  }
}
