// The dispatcher's lanes: made from the configuration, and kept right when the clock is set. The dispatcher's
// thread.

internal import Apps
internal import Domain
internal import Persistence
internal import Platform
internal import Store

extension DispatcherRun {
  /// Lanes for these apps. One of an app that is gone starts nothing more; what it has under way is still
  /// judged and stored.
  mutating func use(_ directory: AppDirectory) {
    let breakers: [String: Breaker]
    do throws(StoreFault) {
      breakers = try reader.breakers()
    } catch {
      // Without it a breaker starts closed, and what was wrong shows again at the first try.
      log.error(
        "could not read the breakers; they begin closed. If this stays: receiptctl db check",
        ["error": error.description])
      breakers = [:]
    }
    let (now, monotonic) = (now, monotonic)
    for slug in lanes.keys where directory[slug] == nil { lanes[slug]?.retire() }
    for (slug, app) in directory.apps {
      if lanes[slug] != nil {
        lanes[slug]?.use(app, now: now, monotonic: monotonic)
      } else {
        lanes[slug] = Lane(app, breaker: breakers[slug] ?? Breaker(), now: now, monotonic: monotonic)
      }
    }
  }

  /// The wall clock jumped by so many milliseconds.
  mutating func followClock(by jump: Int64) {
    log.warning(
      "the wall clock jumped; plans are moved along. If nobody set it, look at the machine's time",
      ["milliseconds": String(jump)])
    let now = now
    for index in unstored.indices {
      guard case .retry(let at, let spent) = unstored[index].attempt.decision else { continue }
      unstored[index].attempt.decision = .retry(at: at.advanced(byMilliseconds: jump), spent: spent)
    }
    for slug in lanes.keys {
      lanes[slug]?.clockJumped(byMilliseconds: jump, now: now)
      guard let breaker = lanes[slug]?.breaker else { continue }
      // If it cannot be stored now, the next try stores it.
      _ = dispatcher.committer.submit(SaveBreaker(app: slug, breaker: breaker), from: .inside) { _ in }
    }
  }
}
