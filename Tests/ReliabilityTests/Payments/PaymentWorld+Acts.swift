// The acts of customers, their apps, the processors and the operator. One thread.

import Domain
import Formats
import Platform
import Store

@testable import Daemon
@testable import Partners
@testable import Sandbox
@testable import Service

extension PaymentWorld {
  /// - Parameter core: nil while the relay is down; requests to it are repeated later.
  func perform(_ act: Act, _ core: RelayCore?) throws {
    switch act {
    case .shop:
      guard isTroubled else { return }
      agenda.add(.shop, at: now + between(Self.minute...3 * Self.hour))
      // Sometimes many customers of the stormy app pay at once: more than it has places.
      let isFlood = oneIn(40)
      for _ in 0..<(isFlood ? 50 : 1) {
        let app = isFlood ? Self.stormyApp : Self.apps.randomElement(using: &random) ?? Self.stormyApp
        let shopper = Shopper(number: shoppers.count, app: app, random: &random)
        shoppers.append(shopper)
        agenda.add(.start(shopper.number, attempts: 0), at: now)
      }
    case .setClock(let jump):
      guard isTroubled || jump < 0 else { return }
      clock.jump(by: jump)
      clockSetAt = now
      agenda.add(.setClock(-jump), at: now + between(Self.minute...12 * Self.hour))
    case .start(let number, _), .capture(let number, _):
      guard let core else { return fail(act) }
      request(act, shoppers[number], core)
    case .callBack(let app, let callback, _):
      guard let core else { return fail(act) }
      callBack(act, app, callback, core)
    case .decide(let number): decide(shoppers[number])
    case .reverse(let number): reverse(shoppers[number])
    case .changeWeather(let app):
      guard isTroubled else { return }
      let weather = Weather.allCases.randomElement(using: &random) ?? .fine
      _ = processors.with(app) { $0.weather = weather }
      backends.change(app, weather: Self.backendWeathers.randomElement(using: &random) ?? .fine)
      agenda.add(act, at: now + between(Self.minute...8 * Self.hour))
    case .reload(let hasAfterpay):
      self.hasAfterpay = hasAfterpay || isHealed
      try core?.reload(configuration)
      guard isTroubled else { return }
      agenda.add(.reload(hasAfterpay: !oneIn(4)), at: now + between(Self.minute...12 * Self.hour))
    }
  }

  /// A backend that answers 2xx has the purchase: its status alone counts (R3).
  private static let backendWeathers = Weather.allCases.filter { $0 != .lying && $0 != .hidden }

  // MARK: Requests to the relay

  private func note(_ act: Act) -> @Sendable (BackendAnswer?) -> Void {
    requests += 1
    let (number, mailbox) = (requests, mailbox)
    unanswered[number] = (act, now)
    return { answer in mailbox.withLock { $0.append((number, answer)) } }
  }

  private func request(_ act: Act, _ shopper: Shopper, _ core: RelayCore) {
    var wanted = shopper.start
    if case .capture = act {
      guard let capture = shopper.capture else { return }
      wanted = capture
    }
    let answer = note(act)
    guard let processor = core.apps.current[AppSlug(shopper.app)]?.processors[shopper.processor],
      let backend = processor.backend, let worker = core.backendWorker,
      let endpoint = type(of: processor).backendEndpoints.first(where: {
        $0.method == "POST" && $0.path == wanted.path
      })
    else { return answer(nil) }
    let request = BackendRequest(
      endpoint, body: wanted.body.serialized(), contentType: "application/json", user: shopper.user,
      rootPath: "/v1/\(shopper.app)/\(shopper.processor)/", clientAddress: "192.0.2.1",
      reference: SandboxIDs.word(30, &random), receivedAt: Timestamp(unixMilliseconds: wall))
    let client = BackendClient(
      requestID: "req_\(requests)", route: endpoint.label, answer: answer, refuse: { _ in answer(nil) })
    let flow = BackendFlow(
      place: AppProcessor(AppSlug(shopper.app), shopper.processor), endpoint: backend, client: client,
      step: backend.respond(to: request))
    if case .answer(let answer) = flow.step { return worker.finish(flow, answer) }
    if !worker.begin(flow) { answer(nil) }
  }

  private func callBack(_ act: Act, _ app: String, _ callback: SandboxSwedbankCallback, _ core: RelayCore) {
    let answer = note(act)
    guard let processor = core.apps.current[AppSlug(app)]?.processors["swedbank"] else { return answer(nil) }
    let reading = processor.read(callback.body, now: Timestamp(unixMilliseconds: wall))
    let event = IngestEvent(
      reading, app: AppSlug(app), processor: "swedbank", body: callback.body, isHint: true)
    let isQueued = core.committer.submit(event, from: .external(app: AppSlug(app))) { result in
      answer((try? result.get()) == nil ? nil : BackendAnswer(status: 200, body: []))
    }
    if !isQueued { answer(nil) }
  }

  /// Delivers answers to the apps.
  /// - Parameter areLost: whether the connections broke first.
  func drainReplies(areLost: Bool) {
    let replies = mailbox.withLock { replies in
      defer { replies = [] }
      return replies
    }
    guard !areLost else { return }
    for (number, answer) in replies {
      guard let (act, _) = unanswered.removeValue(forKey: number) else {
        faults.append("request \(number) was answered twice")
        continue
      }
      switch act {
      case .start(let number, _): started(number, answer, act)
      case .capture(let number, _): captured(number, answer, act)
      case .callBack(let app, let callback, _): calledBack(app, callback, answer, act)
      default: break
      }
    }
  }

  private func started(_ number: Int, _ answer: BackendAnswer?, _ act: Act) {
    guard let object = shoppers[number].object(in: answer) else { return fail(act) }
    shoppers[number].object = object
    agenda.add(.decide(number), at: now + between(Self.second...30 * Self.minute))
    if shoppers[number].isHasty { agenda.add(.capture(number, attempts: 0), at: now) }
  }

  private func captured(_ number: Int, _ answer: BackendAnswer?, _ act: Act) {
    let body = answer.flatMap { try? JSONValue(parsing: $0.body) }
    guard let answer, let state = body?["state"]?.stringValue,
      [200, 402, 409, 410, 422].contains(answer.status)
    else { return fail(act) }
    if let end = shoppers[number].end, end != state {
      faults.append("shopper \(number) learned \(end), and then \(state)")
    }
    shoppers[number].end = state
    shoppers[number].answers += 1
    if shoppers[number].answers < 3, oneIn(6) {
      agenda.add(.capture(number, attempts: 0), at: now + between(0...2 * Self.hour))
    }
  }

  private func calledBack(
    _ app: String, _ callback: SandboxSwedbankCallback, _ answer: BackendAnswer?, _ act: Act
  ) {
    guard answer != nil else { return fail(act) }
    let status = processors.with(app) { $0.swedbank.order(callback.orderID)?.status }
    if status == .reversed { reportedReversals.insert(callback.orderID) }
  }

  /// A request without an answer, or with one that helps nothing, is repeated for a while.
  func fail(_ act: Act) {
    switch act {
    case .start(let number, let attempts) where attempts < 8:
      agenda.add(
        .start(number, attempts: attempts + 1), at: now + between(Self.second...5 * Self.minute))
    case .capture(let number, let attempts):
      let most = shoppers[number].givesUp ? 2 : 40
      guard attempts < most, shoppers[number].end == nil else { return }
      agenda.add(
        .capture(number, attempts: attempts + 1), at: now + between(Self.second...10 * Self.minute))
    case .callBack(let app, let callback, let attempts):
      let seconds: [Int64] = [30, 30, 300, 72, 432, 401]
      guard seconds.indices.contains(attempts) else { return }
      agenda.add(
        .callBack(app: app, callback, attempts: attempts + 1), at: now + seconds[attempts] * Self.second)
    default: break
    }
  }

  // MARK: Customers

  private func decide(_ shopper: Shopper) {
    guard let object = shopper.object, shopper.intent != .leaves else { return }
    let wall = wall
    if shopper.isSwedbank {
      let isHeld = oneIn(3)
      _ = processors.with(shopper.app) { accounts in
        switch shopper.intent {
        case .pays: accounts.swedbank.perform(isHeld ? .authorize : .pay, on: object, now: wall)
        case .isDeclined: accounts.swedbank.perform(.fail, on: object, now: wall)
        case .cancels: accounts.swedbank.perform(.abort, on: object, now: wall)
        case .leaves: false
        }
      }
      sendCallbacks(of: shopper.app)
      if shopper.intent == .pays, !isHeld, oneIn(4) {
        agenda.add(.reverse(shopper.number), at: now + between(Self.minute...2 * Self.day))
      }
      return
    }
    _ = processors.with(shopper.app) {
      $0.afterpay.perform(shopper.intent == .cancels ? .cancel : .confirm, on: object, now: wall)
    }
    // Some apps are killed before they can order the capture.
    guard !oneIn(10) else { return }
    let moment = now + between(0...Self.minute)
    for _ in 0..<(oneIn(4) ? 2 : 1) { agenda.add(.capture(shopper.number, attempts: 0), at: moment) }
  }

  private func reverse(_ shopper: Shopper) {
    guard let object = shopper.object else { return }
    let wall = wall
    _ = processors.with(shopper.app) { $0.swedbank.perform(.reverse, on: object, now: wall) }
    sendCallbacks(of: shopper.app)
  }

  /// A quarter of all callbacks is lost.
  private func sendCallbacks(of app: String) {
    for callback in processors.with(app, { $0.swedbank.popCallbacks() }) ?? [] where !oneIn(4) {
      for _ in 0..<(oneIn(5) ? 3 : 1) {
        agenda.add(.callBack(app: app, callback, attempts: 0), at: now + between(0...5 * Self.second))
      }
    }
  }
}
