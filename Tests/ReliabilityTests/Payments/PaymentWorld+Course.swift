// The course of a simulation: lives of the relay, one after the other, and what must be true at the end. One
// thread.

import Domain
import Formats
import Platform
import SimulatedDisk
import Store

@testable import Daemon
@testable import Reports
@testable import SQLiteStore
@testable import Sandbox
@testable import Service

extension PaymentWorld {
  /// Simulates this many days of trouble, and then enough quiet ones to finish everything.
  func live(days: Int64) throws {
    let end = now + days * Self.day
    agenda.add(.shop, at: now)
    agenda.add(.changeWeather(Self.stormyApp), at: now)
    agenda.add(.reload(hasAfterpay: true), at: now + Self.hour)
    agenda.add(.setClock(40 * Self.minute), at: now + between(Self.hour...Self.day))
    while now < end { try runRelay(until: end) }
    isHealed = true
    disk.heal()
    hasAfterpay = true
    _ = processors.with(Self.stormyApp) { $0.weather = .fine }
    backends.change(Self.stormyApp, weather: .fine)
    try runRelay(until: now + Self.quietDays * Self.day)
    processors.processLate()
    try compareLedgers()
  }

  /// One life of the relay: from its start to this time, or to its death.
  private func runRelay(until end: Int64) throws {
    let isDead = try liveOnce(until: end)
    drainReplies(areLost: isDead && oneIn(2))
    let acts = unanswered.sorted { $0.key < $1.key }.map(\.value.act)
    unanswered = [:]
    acts.forEach(fail)
    for transport in [requestNetwork, captureNetwork, lookupNetwork, deliveryNetwork] { transport.cut() }
    if disk.isPowerCut || (isDead && oneIn(2)) {
      disk.crash(random: &random)
    } else {
      disk.kill()
    }
    guard isDead else { return }
    crashes += 1
    try stayDown(until: now + (oneIn(8) ? between(1...6 * Self.hour) : between(1...20 * Self.second)))
  }

  private func liveOnce(until end: Int64) throws -> Bool {
    let dependencies = RelayDependencies(
      shared: Dependencies(
        log: Log(level: .error, clock: clock) { _ in }, clock: clock,
        random: SeededGenerator(seed: random.next()), lookInterval: .hours(1)),
      transport: deliveryNetwork, lookupTransport: lookupNetwork,
      backendTransports: BackendTransports(requests: requestNetwork, captures: captureNetwork),
      onSyncFailure: { _ in }, noteServiceInterval: .hours(1))
    var services = SQLiteEngine.Services()
    services.keySizes = Life.keySizes
    let engine = SQLiteEngine(
      owner: disk.path(), services: services, reserve: EndlessSpace(), log: dependencies.log,
      onSyncFailure: dependencies.onSyncFailure)
    let core = try RelayCore(configuration, engine, dependencies)
    core.readiness.clear(.starting)
    // A crash loses the newest; the end checks all.
    try checkAcknowledged(shoppers.suffix(60))
    let life = try PaymentLife(self, core)
    try life.live(until: end)
    return life.isDead
  }

  private func stayDown(until end: Int64) throws {
    while let next = agenda.nextAt, next <= end {
      clock.advance(toMonotonic: next)
      while let act = agenda.next(until: now) { try perform(act, nil) }
    }
    clock.advance(toMonotonic: end)
  }

  // MARK: What must be true

  /// A payment that an app knows is on disk, with its user (R1).
  private func checkAcknowledged(_ shoppers: ArraySlice<Shopper>) throws {
    let store = try StoreReader(path: disk.path())
    for shopper in shoppers {
      guard let key = shopper.key else { continue }
      if try store.startedPayment(key, app: AppSlug(shopper.app), user: shopper.user) == nil {
        faults.append("R1: the payment of shopper \(shopper.number) is not stored")
      }
    }
    faults += try store.contradictions()
  }

  /// While the relay runs, each request is answered in time, also if a processor is not.
  func checkPatience() {
    for (number, request) in unanswered where now - request.at > patience(of: request.act) {
      faults.append("R11: request \(number) has no answer: \(request.act)")
    }
    faults += processors.drainFaults() + backends.drainFaults()
  }

  /// The calm app's processors answer within a second, and each worker may be held up for three. For the
  /// other, the time-outs of several calls add up.
  private func patience(of act: Act) -> Int64 {
    let app =
      switch act {
      case .start(let number, _), .capture(let number, _): shoppers[number].app
      case .callBack(let app, _, _): app
      default: Self.stormyApp
      }
    return app == Self.stormyApp ? 4 * Self.minute : Self.minute / 2
  }

  /// At the end the relay, the processors and the merchants' backends agree.
  private func compareLedgers() throws {
    try checkAcknowledged(shoppers[...])
    let reader = try Connection(path: disk.path(), mode: .readOnly, busyTimeout: .zero)
    let open = try reader.prepare("SELECT count(*) FROM captures WHERE outcome IS NULL").first([]) {
      row throws(SQLiteError) in row.integer(0)
    }
    if open != 0 { faults.append("\(open ?? -1) captures have no outcome") }
    for app in Self.apps {
      compareAfterpay(app)
      compareSwedbank(app)
      for purchase in backends.purchases(of: app) where !isPaid(purchase.object, app) {
        faults.append("\(app): \(purchase.object) was reported, and never paid")
      }
    }
  }

  private func shopper(_ object: String) -> Shopper? { shoppers.first { $0.object == object } }

  private func isPaid(_ object: String, _ app: String) -> Bool {
    processors.with(app) { accounts in
      if let checkout = accounts.afterpay.checkout(object) { return checkout.charges == 1 }
      return accounts.swedbank.order(object).map { $0.authorizedAmount > 0 || $0.capturedAmount > 0 }
    } ?? false
  }

  private func compareAfterpay(_ app: String) {
    for checkout in processors.with(app, { $0.afterpay.list }) ?? [] {
      let name = "\(app): \(checkout.token)"
      if checkout.charges > 1 { faults.append("\(name) was charged \(checkout.charges) times") }
      let shopper = shopper(checkout.token)
      let isReported = backends.purchase(checkout.token, of: app)
      if checkout.charges == 1 {
        if isReported == nil { faults.append("\(name) was captured, and not reported") }
        if isReported?.user != shopper?.user.text { faults.append("\(name) was reported of another user") }
      }
      if let end = shopper?.end, (end == "captured") != (checkout.charges == 1) {
        faults.append("\(name): the app learned \(end), and was charged \(checkout.charges) times")
      }
    }
  }

  private func compareSwedbank(_ app: String) {
    for order in processors.with(app, { $0.swedbank.list }) ?? [] {
      let name = "\(app): \(order.id)"
      let reported = backends.purchase(order.id, of: app)
      if app == Self.stormyApp, order.status == .paid, order.capturableAmount != 0 {
        faults.append("\(name) was authorised, and not captured")
      }
      if order.transactions.count(where: { $0.type == "Capture" }) > 1 {
        faults.append("\(name) was captured twice")
      }
      if app != Self.stormyApp, order.captureRequests > 0 {
        faults.append("\(name) was captured, and nobody ordered it")
      }
      if order.status == .paid, reported == nil { faults.append("\(name) was paid, and not reported") }
      if let reported, reported.user != shopper(order.id)?.user.text {
        faults.append("\(name) was reported of another user")
      }
      if let reported, reportedReversals.contains(order.id), !reported.isReversed {
        faults.append("\(name): its reversal was not reported")
      }
    }
  }
}
