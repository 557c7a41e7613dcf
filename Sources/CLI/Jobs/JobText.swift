// Formats jobs for operators. Pure; any thread.

internal import Domain
internal import Platform
internal import Reports
internal import Store
internal import Terminal

enum JobText {
  /// The receipts that were not processed, by reason.
  static func missedTable(_ job: Job) -> Table {
    var table = Table(
      [
        .init("OUTCOME"), .init("REASON"), .init("COUNT", alignment: .trailing),
        .init("MEANING", canShrink: true),
      ],
      emptyMessage: "")
    for missed in job.missed {
      table.add([
        Table.Cell(missed.outcome.rawValue, missed.outcome == .failed ? .red : .yellow),
        Table.Cell(missed.reason ?? "-"), Table.Cell(count: missed.count), Table.Cell(meaning(of: missed)),
      ])
    }
    return table
  }

  private static func meaning(of missed: JobCount) -> String {
    switch missed.outcome {
    case .gone: return "no longer exists"
    case .skipped:
      guard let result = missed.reason.flatMap(OperatorResult.init(code:)) else {
        return "is of an app that is not configured"
      }
      return result.explanation(id: "ID")
    default: return missed.reason.map { Reason($0).meaning } ?? ""
    }
  }

  /// Why a job releases nothing but a probe, per app, such as `deliveries of ios were paused …`.
  static func holds(_ holds: [JobHold], now: Timestamp) -> [String] {
    holds.map { hold in
      let (place, breaker): (AppDestination, Breaker)
      switch hold {
      case .pause(let slug, let pause):
        let app = DisplayText.clean(slug.text)
        let text = PauseText(pause, app: app, now: now)
        return "No receipt of \(app) is released while its deliveries are paused: they "
          + DisplayText.clean((text.map { "\($0.sentence) \($0.advice)" }) ?? "are paused.")
      case .breaker(let held, let stopped): (place, breaker) = (held, stopped)
      }
      let app = DisplayText.clean(place.app.text)
      let destination = DisplayText.clean(place.destination.text)
      let why =
        BreakerText(breaker, app: app, now: now, advice: nil).map { " \($0.sentence)" } ?? " are stopped."
      return "No receipt of \(app) is released while its deliveries to \(destination) are stopped, "
        + "except one as the probe when nothing else of the app is due: they\(why)"
    }
  }
}
