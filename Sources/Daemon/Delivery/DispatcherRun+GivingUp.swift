// Gives up receipts whose destination has been down too long. The dispatcher's thread.

internal import Domain
internal import Platform
internal import Reports
internal import Service
internal import Store

extension DispatcherRun {
  /// Gives up the receipts of a lane whose retry time is used up. While the destination is down they are not
  /// attempted, so this check must find them.
  func giveUpOverdue(_ lane: Lane) {
    let policy = lane.app.delivery.retry
    let cutoff = now - policy.giveUpAfter
    let paused = lane.pausedTime(now: now)
    // If the read fails, the next failed probe checks again.
    let overdue = try? reader.overdue(lane.place, now: now, cutoff: cutoff, limit: GiveUp.rowsMax)
    let receipts = (overdue ?? []).filter { item in
      RetryBudget(
        spentAttempts: 0, startedAt: item.budget.since,
        pausedTime: paused - item.budget.pausedBase
      ).isUsedUp(policy: policy, now: now) && !(item.id.purchaseRow.map(lane.underWay.contains) ?? false)
    }.map(\.id)
    guard !receipts.isEmpty else { return }
    let (log, app) = (log, lane.app.slug)
    guard let tenure = tenures[app] else { return }
    let command = Fenced(tenure.fence, GiveUp(app: app, receipts: receipts))
    _ = dispatcher.committer.submit(command, from: .internal) { result in
      if case .success((let count, let madeSince)??) = result {
        let command = SuggestedReplay.text(app: app, reason: Reason.gaveUp.text, since: madeSince)
        log.warning(
          "gave up receipts; replay them once the destination is back: \(command)",
          ["app": app.text, "count": String(count)])
      }
    }
  }
}
