// The acts of the simulated world: shoppers, Stripe, operators, the weather. One thread.

import Domain
import Formats
import Partners
import Platform
import Sandbox
import Store

@testable import Daemon
@testable import Service
@testable import Upkeep

extension SimulatedWorld {
  /// Acts that need the relay.
  func perform(_ act: Act, _ relay: SimulatedRelay) throws {
    let core = relay.core
    switch act {
    case .post(let story, let context, let attempts): post(story, context, attempts, core)
    case .send(let story, let event, let attempts) where event >= 0: send(story, event, attempts, core)
    case .knock(let app, let token, let attempts): knock(app, token, attempts: attempts, core)
    case .visit(let app):
      if let token = provider.token(of: app, random: &random) { knock(app, token, attempts: 0, core) }
      if isTroubled { agenda.add(.visit(app), at: now + between(Self.second...3 * Self.hour)) }
    case .operate:
      if isTroubled { try oneIn(3) ? operateJobs(core) : operate(core) }
      agenda.add(.operate, at: now + between(Self.minute...6 * Self.hour))
    case .reload:
      rate = [20.0, 50, 1000].randomElement(using: &random) ?? 50
      try core.reload(configuration)
      relay.alerter.use(try AlertPlan(configuration))
      lookups.forget(now: now)
      alerts.noteReload(now: now)
    default: perform(act)
    }
    answerKnocks()
  }

  /// Acts without the relay; those that need it are retried later.
  func perform(_ act: Act) {
    switch act {
    case .buy: buy()
    case .shop:
      guard isTroubled else { return }
      agenda.add(.shop, at: now + between(Self.minute...20 * Self.hour))
      buy()
    case .send(let story, let event, _) where event < 0: makeEvents(story)
    case .send(let story, let event, _):
      // Stripe stops sending some, and knows that they were not delivered.
      let made = events[story][event]
      let isMissable = Self.appsThatAsk.contains(stories[story].app) && !hasWildClock
      if isLongDown, isMissable, made.madeAt >= downs.last?.lowerBound ?? now, oneIn(2) {
        memory.missed.insert(made.id)
      } else {
        fail(act)
      }
    case .post: fail(act)
    case .operate: agenda.add(.operate, at: now + between(Self.minute...6 * Self.hour))
    case .visit(let app): agenda.add(.visit(app), at: now + between(Self.second...3 * Self.hour))
    case .knock, .reload: break
    case .jump(let jump): clock.jump(by: jump)
    case .weather(let app, let weather): destinations.change(app) { $0.weather = weather }
    default: if isTroubled { change(act) }
    }
  }

  /// Changes servers and clocks.
  private func change(_ act: Act) {
    switch act {
    case .changeWeather(let app):
      let weather = Weather.ofDestinations.randomElement(using: &random) ?? .fine
      destinations.change(app) { $0.weather = weather }
      agenda.add(act, at: now + between(Self.minute...12 * Self.hour))
    case .changeWeatherAt(let place):
      change(place)
      // Sometimes longer than keys are trusted.
      let isLong = oneIn(40)
      agenda.add(act, at: now + (isLong ? 8 * Self.day : between(Self.minute...12 * Self.hour)))
    case .rotateKey(let app):
      keys[app] = "key-\(app)-\(now)"
      destinations.change(app) { $0.key = keys[app] ?? "" }
      agenda.add(.reload, at: now + between(1...8 * Self.hour))
      agenda.add(act, at: now + between(Self.hour...3 * Self.day))
    case .rotateStripe(let app):
      stripeGenerations[app, default: 0] += 1
      stripe.move(app, to: stripeGenerations[app] ?? 0)
      stripeFineSince[app] = stripeFineSince[app].map { max($0, now + 9 * Self.hour) }
      agenda.add(.reload, at: now + between(1...8 * Self.hour))
      agenda.add(act, at: now + between(Self.hour...5 * Self.day))
    case .rotateTokens(let app):
      let next = Int(between(0...2))
      provider.rotate(app, to: oneIn(2) ? [next] : [next, (next + 1) % 3])
      agenda.add(act, at: now + between(Self.hour...3 * Self.day))
    case .setClock:
      let jumps = [Self.hour, 365 * Self.day, Self.second]
      let jump = jumps.randomElement(using: &random) ?? 0
      clock.jump(by: oneIn(2) ? jump : -jump)
      clockSetAt = now
      agenda.add(.setClock, at: now + between(Self.minute...2 * Self.day))
    default: break
    }
  }

  private func change(_ place: Place) {
    switch place {
    case .stripe(let app):
      let weather = Weather.allCases.randomElement(using: &random) ?? .fine
      stripe.change(app, weather: weather)
      noteStripe(app, weather)
    case .provider(let app):
      provider.change(app, weather: Weather.allCases.randomElement(using: &random) ?? .fine, now: now)
    case .receiver:
      let weather = SimulatedReceivers.weathers.randomElement(using: &random) ?? .fine
      receivers.change(weather: weather)
      receiverFineSince = weather == .fine ? now : nil
    }
  }

  // MARK: Shoppers and Stripe

  private func buy() {
    let number = stories.count
    let app = Self.apps.randomElement(using: &random) ?? Self.calmApp
    let story = Story(number: number, app: app, random: &random)
    stories.append(story)
    events.append([])
    if story.isRefused { destinations.change(app) { $0.refused.insert(story.objectID) } }
    for context in story.contexts.indices {
      let moment = oneIn(4) ? between(0...2 * Self.minute) : -1
      agenda.add(.post(story: number, context: context, attempts: 0), at: max(now, now + moment))
    }
    let paidAt = now + between(Self.second...30 * Self.minute)
    agenda.add(.send(story: number, event: -1, attempts: 0), at: paidAt)
  }

  /// Stripe creates the events of a story after the app has posted its context or given up.
  private func makeEvents(_ number: Int) {
    if [.contextByID, .spoiltContextID, .sessionInAPI].contains(stories[number].kind) {
      stories[number].contextID =
        memory.contexts.first {
          $0.value.blob == stories[number].contexts.first
        }?.key
    }
    let story = stories[number]
    for object in story.objects(at: wall, random: &random) { stripe.add(story.app, object: object) }
    events[number] = story.events(at: wall, random: &random).map { event in
      if let event = try? JSONValue(parsing: event.body) { stripe.add(story.app, event: event) }
      return SentEvent(id: event.id, body: event.body, madeAt: now)
    }
    for event in events[number].indices {
      let delays = [0...5 * Self.second, 0...5 * Self.second, 0...10 * Self.minute, 0...2 * Self.day]
      agenda.add(
        .send(story: number, event: event, attempts: 0),
        at: now + between(delays.randomElement(using: &random) ?? 0...0))
      if oneIn(5) {
        agenda.add(.send(story: number, event: event, attempts: 0), at: now + between(0...2 * Self.day))
      }
    }
  }

  private func post(_ number: Int, _ index: Int, _ attempts: Int, _ core: RelayCore) {
    let story = stories[number]
    guard let blob = try? PlyContext.read(story.contexts[index]) else { return }
    let app = AppSlug(story.app)
    let command = IngestContext(
      app: app, userID: UserID(story.user), blob: blob,
      id: ContextID.make(now: Timestamp(unixMilliseconds: wall), random: &random))
    let mailbox = mailbox
    unanswered.append(.post(story: number, context: index, attempts: attempts))
    let isQueued = submit(command, of: app, core) { result in
      let id = try? result.get().stored?.id.text
      mailbox.withLock { $0.append(.context(story: number, index: index, attempts: attempts, id: id)) }
    }
    if !isQueued {
      mailbox.withLock { $0.append(.context(story: number, index: index, attempts: attempts, id: nil)) }
    }
  }

  private func send(_ number: Int, _ index: Int, _ attempts: Int, _ core: RelayCore) {
    let story = stories[number]
    let app = AppSlug(story.app)
    guard let processor = core.apps.current[app]?.processors["stripe"] else { return }
    let body = events[number][index].body
    let moment = Timestamp(unixMilliseconds: wall)
    let command = IngestEvent(processor.read(body, now: moment), app: app, processor: "stripe", body: body)
    let mailbox = mailbox
    unanswered.append(.send(story: number, event: index, attempts: attempts))
    let isQueued = submit(command, of: app, core) { result in
      let isTaken = (try? result.get()) != nil
      mailbox.withLock {
        $0.append(.event(story: number, index: index, attempts: attempts, isTaken: isTaken))
      }
    }
    if !isQueued {
      mailbox.withLock { $0.append(.event(story: number, index: index, attempts: attempts, isTaken: false)) }
    }
  }

  /// Delivers answers to their callers.
  /// - Parameter areLost: whether the connections broke first.
  func drainReplies(areLost: Bool) {
    let replies = mailbox.withLock { replies in
      defer { replies = [] }
      return replies
    }
    guard !areLost else { return }
    for reply in replies {
      switch reply {
      case .context(let story, let index, let attempts, let id):
        removeUnanswered { if case .post(story, index, _) = $0 { true } else { false } }
        guard let id else {
          fail(.post(story: story, context: index, attempts: attempts))
          continue
        }
        memory.contexts[id] = Memory.Context(
          app: stories[story].app, user: stories[story].user, blob: stories[story].contexts[index],
          at: now)
      case .event(let story, let index, let attempts, let isTaken):
        removeUnanswered { if case .send(story, index, _) = $0 { true } else { false } }
        if isTaken {
          memory.events[events[story][index].id] = now
          stripe.deliver(stories[story].app, events[story][index].id)
        } else {
          fail(.send(story: story, event: index, attempts: attempts))
        }
      }
    }
  }

  private func removeUnanswered(where isIt: (Act) -> Bool) {
    if let index = unanswered.firstIndex(where: isIt) { unanswered.remove(at: index) }
  }

  /// A request without an answer, or with a 503, is retried.
  func fail(_ act: Act) {
    switch act {
    case .post(let story, let context, let attempts):
      let again = now + min(Self.hour, Self.second << Int64(min(attempts, 12)))
      agenda.add(.post(story: story, context: context, attempts: attempts + 1), at: again)
    case .send(let story, let event, let attempts):
      let again = now + min(6 * Self.hour, Self.minute << Int64(min(2 * attempts, 10)))
      agenda.add(.send(story: story, event: event, attempts: attempts + 1), at: again)
    default: break
    }
  }
}
