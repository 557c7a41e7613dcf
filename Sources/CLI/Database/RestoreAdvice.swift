// What an operator does after a restore about the payments that the backup does not know. Pure.

internal import Config
internal import Domain

enum RestoreAdvice {
  /// - Parameter last: when the last event of the backup arrived; nil if it has none.
  static func lines(_ configuration: Configuration, since last: Timestamp?) -> [String] {
    let apps = configuration.apps
    let listing = apps.filter { $0.eventLister != nil }
    let options = listing.count == apps.count ? [""] : listing.map { " --app \($0.slug)" }
    let backfills = last.map { last in
      options.map {
        "Then fetch the events since then: receiptctl events backfill --since \(last.text)\($0)"
      }
    }
    let comparisons = apps.flatMap { app in
      app.processorsWithoutLists.map { kind in
        "Payments of \(app.slug) with \(kind.label) that were started after the backup are unknown to "
          + "receiptd, and cannot be fetched. Compare the processor's portal with: receiptctl receipts list "
          + "--app \(app.slug) --processor \(kind.name)"
      }
    }
    return (backfills ?? []) + comparisons
  }
}
