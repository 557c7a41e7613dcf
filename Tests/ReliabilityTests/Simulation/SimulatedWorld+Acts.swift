// What happens in the simulated world: shoppers, Stripe, operators, the weather. One thread.

@testable import Apps
import Cryptography
import Destinations
import Domain
@testable import Persistence
import Platform
import Processors
import Sandbox
import Store

@testable import Relay

extension SimulatedWorld {
  /// - Parameter core: the relay; nil while it is down.
  func perform(_ act: Act, _ core: RelayCore) throws {
    switch act {
    case .shop: shop()
    case .post(let story, let context, let tries): post(story, context, tries, core)
    case .send(let story, let event, let tries): send(story, event, tries, core)
    case .changeWeather(let app):
      guard !isHealed else { return }
      let weather = Weather.allCases.randomElement(using: &random) ?? .fine
      network.change(app) { $0.weather = weather }
      agenda.add(.changeWeather(app), at: now + between(Self.minute...12 * Self.hour))
    case .rotateKey(let app):
      guard !isHealed else { return }
      keys[app] = "key-\(app)-\(now)"
      network.change(app) { $0.key = keys[app] ?? "" }
      agenda.add(.reload, at: now + between(1...8 * Self.hour))
      agenda.add(.rotateKey(app), at: now + between(Self.hour...3 * Self.day))
    case .operate:
      if !isHealed { try operate(core) }
      agenda.add(.operate, at: now + between(Self.minute...6 * Self.hour))
    case .reload:
      rate = [20.0, 50, 1000].randomElement(using: &random) ?? 50
      try core.reload(configuration)
    case .jump(let jump): clock.jump(by: jump)
    case .weather(let app, let weather): network.change(app) { $0.weather = weather }
    case .setClock:
      guard !isHealed else { return }
      let jumps = [Self.hour, 365 * Self.day, Self.second]
      let jump = jumps.randomElement(using: &random) ?? 0
      clock.jump(by: oneIn(2) ? jump : -jump)
      agenda.add(.setClock, at: now + between(Self.minute...2 * Self.day))
    }
  }

  // MARK: Shoppers and Stripe

  private func shop() {
    guard !isHealed else { return }
    agenda.add(.shop, at: now + between(Self.minute...20 * Self.hour))
    let number = stories.count
    let app = Self.apps.randomElement(using: &random) ?? Self.calmApp
    let story = Story(number: number, app: app, random: &random)
    stories.append(story)
    events.append([])
    if story.isRefused { network.change(app) { $0.refused.insert(story.objectID) } }
    for context in story.contexts.indices {
      let moment = oneIn(4) ? between(0...2 * Self.minute) : -1
      agenda.add(.post(story: number, context: context, tries: 0), at: max(now, now + moment))
    }
    let paidAt = now + between(Self.second...30 * Self.minute)
    agenda.add(.send(story: number, event: -1, tries: 0), at: paidAt)
  }

  /// Stripe makes the events of a story once the app has its context through, or goes without.
  private func makeEvents(_ number: Int) {
    if stories[number].kind == .contextByID {
      stories[number].contextID =
        memory.contexts.first {
          $0.value.blob == stories[number].contexts.first
        }?.key
    }
    events[number] = stories[number].events(at: wall, random: &random).map {
      SentEvent(id: $0.id, body: $0.body)
    }
    for event in events[number].indices {
      let delays = [0...5 * Self.second, 0...5 * Self.second, 0...10 * Self.minute, 0...2 * Self.day]
      agenda.add(
        .send(story: number, event: event, tries: 0),
        at: now + between(delays.randomElement(using: &random) ?? 0...0))
      if oneIn(5) {
        agenda.add(.send(story: number, event: event, tries: 0), at: now + between(0...2 * Self.day))
      }
    }
  }

  private func post(_ number: Int, _ index: Int, _ tries: Int, _ core: RelayCore) {
    let story = stories[number]
    guard let blob = try? PlyContext.read(story.contexts[index]) else { return }
    let command = TakeContext(
      app: story.app, userID: story.user, blob: blob, digest: SHA256.digest(Array(blob.text.utf8)),
      id: Identifier.make(
        prefix: Identifier.contextPrefix, now: Timestamp(unixMilliseconds: wall), random: &random))
    let mailbox = mailbox
    unanswered.append(.post(story: number, context: index, tries: tries))
    let isQueued = core.committer.submit(command, from: .outside(app: story.app)) { result in
      let id = try? result.get().id
      mailbox.withLock { $0.append(.context(story: number, index: index, tries: tries, id: id)) }
    }
    if !isQueued {
      mailbox.withLock { $0.append(.context(story: number, index: index, tries: tries, id: nil)) }
    }
  }

  private func send(_ number: Int, _ index: Int, _ tries: Int, _ core: RelayCore) {
    guard index >= 0 else { return makeEvents(number) }
    let story = stories[number]
    guard let processor = core.apps.current[story.app]?.processors["stripe"] else { return }
    let body = events[number][index].body
    let moment = Timestamp(unixMilliseconds: wall)
    let command = TakeEvent(
      processor.read(body, now: moment), app: story.app, processor: "stripe", body: body)
    let mailbox = mailbox
    unanswered.append(.send(story: number, event: index, tries: tries))
    let isQueued = core.committer.submit(command, from: .outside(app: story.app)) { result in
      let isTaken = (try? result.get()) != nil
      mailbox.withLock {
        $0.append(.event(story: number, index: index, tries: tries, isTaken: isTaken))
      }
    }
    if !isQueued {
      mailbox.withLock { $0.append(.event(story: number, index: index, tries: tries, isTaken: false)) }
    }
  }

  /// Answers come back to those who asked.
  /// - Parameter areLost: whether the connections broke before that.
  func takeReplies(areLost: Bool) {
    let replies = mailbox.withLock { replies in
      defer { replies = [] }
      return replies
    }
    guard !areLost else { return }
    for reply in replies {
      switch reply {
      case .context(let story, let index, let tries, let id):
        settle { if case .post(story, index, _) = $0 { true } else { false } }
        guard let id else {
          fail(.post(story: story, context: index, tries: tries))
          continue
        }
        memory.contexts[id] = Memory.Context(
          app: stories[story].app, user: stories[story].user, blob: stories[story].contexts[index],
          at: now)
      case .event(let story, let index, let tries, let isTaken):
        settle { if case .send(story, index, _) = $0 { true } else { false } }
        if isTaken {
          memory.events[events[story][index].id] = now
        } else {
          fail(.send(story: story, event: index, tries: tries))
        }
      }
    }
  }

  private func settle(_ isIt: (Act) -> Bool) {
    if let index = unanswered.firstIndex(where: isIt) { unanswered.remove(at: index) }
  }

  /// Whoever got no answer, or a 503, tries again.
  func fail(_ act: Act) {
    switch act {
    case .post(let story, let context, let tries):
      let again = now + min(Self.hour, Self.second << Int64(min(tries, 12)))
      agenda.add(.post(story: story, context: context, tries: tries + 1), at: again)
    case .send(let story, let event, let tries):
      let again = now + min(6 * Self.hour, Self.minute << Int64(min(2 * tries, 10)))
      agenda.add(.send(story: story, event: event, tries: tries + 1), at: again)
    default: break
    }
  }
}
