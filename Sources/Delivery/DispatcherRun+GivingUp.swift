// Giving up receipts whose destination has been down for too long. The dispatcher's thread.

internal import Apps
internal import Domain
internal import Persistence
internal import Platform
internal import Presentation
internal import Store

extension DispatcherRun {
  /// While the destination is down its receipts get no turn; those whose time is up are given up here.
  func giveUpOverdue(_ lane: Lane) {
    let policy = lane.app.delivery.retry
    let cutoff = now.advanced(byMilliseconds: -policy.giveUpAfterMilliseconds)
    let paused = lane.breaker.pausedMilliseconds(now: now)
    // If it cannot be read now, the next probe comes here again.
    let overdue = try? reader.overdue(app: lane.app.slug, now: now, cutoff: cutoff, limit: GiveUp.rowsMax)
    let rows = (overdue ?? []).filter { item in
      RetryBudget(
        spentTries: 0, startedAt: item.budget.since,
        pausedMilliseconds: paused - item.budget.pausedBaseMilliseconds
      ).isUsedUp(policy: policy, now: now) && !lane.underWay.contains(item.row)
    }.map(\.row)
    guard !rows.isEmpty else { return }
    let (log, app) = (log, lane.app.slug)
    _ = dispatcher.committer.submit(GiveUp(app: app, rows: rows), from: .inside) { result in
      if case .success((let count, let madeSince)?) = result {
        let command = ReplayCommand.text(app: app, reason: Reason.gaveUp.text, since: madeSince)
        log.warning(
          "gave up receipts; replay them once the destination is back: \(command)",
          ["app": app, "count": String(count)])
      }
    }
  }
}
