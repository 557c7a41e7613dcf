// What stops an app's deliveries, as text for operators. One thread.

internal import Config
internal import Domain
internal import Reports
internal import Store
internal import Terminal

/// One reason why an app's receipts are not sent now.
struct Stoppage {
  /// The same as long as the reason is; the text has times that pass.
  let key: String
  let what: String
  let advice: String

  var text: String { "\(what) \(advice)" }

  /// - Parameter breakers: in the order in which an operator should know of them.
  static func all(
    of slug: AppSlug, _ pause: AppPause?, _ breakers: [(destination: DestinationName, breaker: Breaker)],
    _ configuration: Configuration, now: Timestamp
  ) -> [Stoppage] {
    let app = DisplayText.clean(slug.text)
    var found: [Stoppage] = []
    if let text = PauseText(pause, app: app, now: now) {
      let what = DisplayText.clean("Deliveries of \(app) \(text.sentence)")
      found.append(Stoppage(key: "\(app) paused", what: what, advice: text.advice))
    }
    for (destination, breaker) in breakers {
      let advice = configuration.destinationAdvice(of: AppDestination(slug, destination))
      guard let text = BreakerText(breaker, app: app, now: now, advice: advice) else { continue }
      let name = DisplayText.clean(destination.text)
      found.append(
        Stoppage(
          key: "\(app) \(name) \(breaker.state.rawValue) \(breaker.cause?.text ?? "")",
          what: "Deliveries of \(app) to \(name) \(text.sentence)", advice: text.advice))
    }
    return found
  }

  /// What stops the deliveries of these apps.
  static func all(
    of apps: Set<AppSlug>, _ reader: StoreReader, _ configuration: Configuration, now: Timestamp
  ) throws(StoreFault) -> [Stoppage] {
    let (pauses, breakers) = (try reader.pauses(), try reader.breakers())
    return apps.sorted().flatMap { app in
      all(of: app, pauses[app], breakers.sorted(of: app, now: now), configuration, now: now)
    }
  }
}
