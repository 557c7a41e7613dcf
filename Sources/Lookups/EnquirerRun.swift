// The steps of the lookup worker, and its state. The lookup worker's thread.

internal import Apps
internal import Domain
internal import HTTPClient
internal import Persistence
internal import Platform
internal import Store

/// One run of the lookup worker, from start to stop.
struct EnquirerRun {
  /// A query under way.
  enum Question {
    case lookUp(LookUpQuestion)
    /// - edition: the generation of the configuration that it uses.
    case page(AppProcessor, edition: Int)

    var place: AppProcessor {
      switch self {
      case .lookUp(let question): question.place
      case .page(let place, _): place
      }
    }

    var edition: Int {
      switch self {
      case .lookUp(let question): question.edition
      case .page(_, let edition): edition
      }
    }
  }

  let enquirer: Enquirer
  let reader: StoreReader
  let clock: any Clock
  let log: Log
  /// By app and processor, for those with an API to ask.
  var desks: [AppProcessor: EnquiryDesk] = [:]
  var directory: AppDirectory
  private var questions: [UInt64: Question] = [:]
  private var lastTag: UInt64 = 0
  private var lookAt: MonotonicInstant
  private var signAt: MonotonicInstant
  /// Whether the database has recorded that receiptd is running again.
  private var hasBegun = false
  /// When to read again after a failed read.
  private var readsAgainAt: MonotonicInstant?

  init(_ enquirer: Enquirer, reader: StoreReader, directory: AppDirectory) {
    self.enquirer = enquirer
    self.reader = reader
    self.directory = directory
    clock = enquirer.dependencies.clock
    log = enquirer.dependencies.log
    lookAt = clock.monotonic
    signAt = clock.monotonic
    use(directory)
  }

  var now: Timestamp { Timestamp(unixMilliseconds: clock.wallMilliseconds) }
  var monotonic: MonotonicInstant { clock.monotonic }

  /// Runs steps until the stop.
  mutating func loop() {
    while let sleep = turn() { takeAnswers(within: sleep) }
    // Lookups under way stay due in the database.
    _ = enquirer.transport.cancelAll()
  }

  /// Does what is due now, without waiting.
  /// - Returns: for how many milliseconds nothing is due except answers; nil at the stop.
  mutating func turn() -> Int64? {
    if readInbox() { return nil }
    giveSign()
    do throws(StoreFault) {
      if readsAgainAt.map({ monotonic >= $0 }) ?? true {
        readsAgainAt = nil
        for place in desks.keys { try lookUp(place) }
      }
    } catch {
      log.error("could not read what is to be asked; trying again", ["error": error.description])
      readsAgainAt = monotonic.advanced(byMilliseconds: Enquirer.faultPauseMilliseconds)
    }
    for place in desks.keys { goOnWithBackfill(place) }
    return sleepMilliseconds()
  }

  /// Handles the answers of processors; waits for them at most `milliseconds`.
  mutating func takeAnswers(within milliseconds: Int64) {
    for completion in enquirer.transport.run(timeoutMilliseconds: Int(clamping: milliseconds)) {
      finish(completion)
    }
  }

  private func sleepMilliseconds() -> Int64 {
    var sleep = min(
      enquirer.dependencies.lookIntervalMilliseconds, max(0, signAt.milliseconds(since: monotonic)))
    if let readsAgainAt { return min(sleep, max(0, readsAgainAt.milliseconds(since: monotonic))) }
    for var desk in desks.values {
      if let wait = desk.waitMilliseconds(now: now, monotonic: monotonic) { sleep = min(sleep, wait) }
    }
    return sleep
  }

  /// - Returns: whether to stop.
  private mutating func readInbox() -> Bool {
    let news = enquirer.worker.read { inbox in
      defer { inbox = Enquirer.Inbox(isStopping: inbox.isStopping) }
      return inbox
    }
    if news.isStopping { return true }
    if let directory = news.directory { use(directory) }
    for (place, moment) in news.asksAt {
      desks[place].map { desks[place]?.asksAt = min($0.asksAt ?? moment, moment) }
    }
    for (place, row, isStored) in news.settled {
      desks[place]?.underWay.remove(row)
      // The purchase may be due again, because what it lacks may have changed during the lookup.
      lookSoon(place)
      if !isStored { rest(place, for: Enquirer.faultPauseMilliseconds) }
    }
    for plan in news.plans { submit(plan) }
    for (place, edition, outcomes) in news.taken where desks[place]?.edition == edition {
      note(taken: outcomes, place)
    }
    let looksAgain = monotonic >= lookAt
    if looksAgain {
      lookAt = monotonic.advanced(byMilliseconds: enquirer.dependencies.lookIntervalMilliseconds)
    }
    if news.hasBackfills {
      hasBegun = true
      beginBackfills()
    }
    if news.looksEverywhere || looksAgain { for place in desks.keys { lookSoon(place) } }
    return false
  }

  /// Makes the next step read the due lookups of an app.
  mutating func lookSoon(_ place: AppProcessor) {
    let now = now
    desks[place]?.asksAt = now
  }

  /// Pauses an app's queries to a processor.
  mutating func rest(_ place: AppProcessor, for milliseconds: Int64) {
    let monotonic = monotonic
    desks[place]?.rest(for: milliseconds, monotonic)
  }

  /// Whether an app may send one more query; acquires a token if so.
  mutating func mayAsk(_ place: AppProcessor) -> Bool {
    let monotonic = monotonic
    return desks[place]?.mayAsk(monotonic) ?? false
  }

  private mutating func use(_ directory: AppDirectory) {
    self.directory = directory
    desks = desks.filter { directory[$0.key.app]?.enquiries[$0.key.processor] != nil }
    for app in directory.apps.values where !app.enquiries.isEmpty {
      for enquiry in app.enquiries.values {
        if desks[enquiry.place] == nil {
          desks[enquiry.place] = EnquiryDesk(enquiry, now: now, monotonic: monotonic)
        } else {
          let now = now
          desks[enquiry.place]?.use(enquiry, now: now)
        }
      }
      let asked = Set(app.enquiries.keys)
      for reason in LookUp.reasons { submit(PlanLookUps(app: app.slug, asked, reason: reason)) }
    }
    if hasBegun { beginBackfills() }
  }

  private func submit(_ plan: PlanLookUps) {
    let enquirer = enquirer
    _ = enquirer.committer.submit(plan, from: .inside) { result in
      // A failed plan is repeated at the next start.
      if case .success(let next?) = result { enquirer.worker.post { $0.plans.append(next) } }
    }
  }

  /// Records in the database, at intervals, that receiptd is running, so that the next start knows how long
  /// it was down. The first call reads this from the previous run.
  private mutating func giveSign() {
    guard monotonic >= signAt else { return }
    signAt = monotonic.advanced(byMilliseconds: enquirer.signIntervalMilliseconds)
    guard hasBegun else { return begin() }
    // The result is ignored: the next timestamp follows after the same interval.
    _ = enquirer.committer.submit(NoteService(), from: .inside) { _ in }
  }
}

extension EnquirerRun {
  /// Sends a query.
  mutating func ask(_ question: Question, _ request: TransferRequest) -> Bool {
    lastTag += 1
    do throws(TransferFailure) {
      try enquirer.transport.start(request, tag: lastTag)
    } catch {
      guard let desk = desks[question.place] else { return false }
      let answer: QueryAnswer =
        switch error {
        case .refusedURL, .refusedHeader: .refused(error.rawValue)
        default: .failed(error.rawValue, retryAfterMilliseconds: nil)
        }
      _ = cope(with: answer, desk.enquiry)
      return false
    }
    questions[lastTag] = question
    desks[question.place]?.open += 1
    return true
  }

  private mutating func finish(_ completion: TransferCompletion) {
    guard let question = questions.removeValue(forKey: completion.tag) else { return }
    // The app was removed: ignore the answer.
    guard let desk = desks[question.place] else { return }
    desks[question.place]?.open = max(0, desk.open - 1)
    let answer = desk.enquiry.judge(completion.result, now: now)
    let isOrderly = question.edition == desk.edition && cope(with: answer, desk.enquiry)
    switch question {
    case .lookUp(let question): finish(question, answer, isOrderly: isOrderly)
    case .page(let place, let edition):
      if edition == desk.edition { finishPage(answer, place) }
    }
  }

  /// Applies an answer to the app's rest and failure count.
  /// - Returns: whether it answers the query itself.
  private mutating func cope(with answer: QueryAnswer, _ enquiry: Enquiry) -> Bool {
    let (app, place) = (enquiry.app, enquiry.place)
    let failures = (desks[place]?.failures ?? 0) + 1
    func pause(_ retryAfter: Int64?) -> Int64 {
      LookUp.restMilliseconds(failures: failures, retryAfterMilliseconds: retryAfter)
    }
    switch answer {
    case .body, .notFound:
      desks[place]?.succeed()
      return true
    case .limited(let retryAfter):
      desks[place]?.failures = failures
      rest(place, for: pause(retryAfter))
      log.info("the processor asks to go slower", ["app": app, "processor": enquiry.processorName.rawValue])
    case .failed(let word, let retryAfter):
      desks[place]?.failures = failures
      rest(place, for: pause(retryAfter))
      log.info("could not ask the processor; trying again", ["app": app, "reason": word])
    case .refused(let word):
      rest(place, for: LookUp.refusedRestMilliseconds)
      guard desks[place]?.hasWarned == false else { break }
      desks[place]?.hasWarned = true
      log.warning(
        "the processor refuses to be asked: nothing is looked up until api_key, which must be allowed to "
          + "read events, checkout sessions and subscriptions, and api_base are right; trying again every "
          + "few minutes",
        ["app": app, "processor": enquiry.processorName.rawValue, "reason": word])
    }
    return false
  }
}
