// What needs an operator now: the sentences of `receiptctl alerts list`, each with the next step, and the
// failures that nobody has acknowledged. Pure; called from any thread.

internal import Config
internal import Domain
internal import Formats
internal import Reports
internal import Service

struct TroubleList {
  static let shownMax = 20
  private let troubles: [Finding]
  /// Failures that nobody has acknowledged, without those that are a trouble already; the most first.
  private let failures: [(app: AppSlug, count: Int64)]
  private let now: Timestamp

  init(_ troubles: [Finding], newFailures: [AppSlug: Int64], now: Timestamp) {
    let known = Set(troubles.filter { $0.alert == .receiptFailed }.compactMap(\.app))
    failures = newFailures.filter { !known.contains($0.key) }.map { (app: $0.key, count: $0.value) }
      .sorted { (-$0.count, $0.app) < (-$1.count, $1.app) }
    self.troubles = Finding.byUrgency(troubles, now: now)
    self.now = now
  }

  private var isEmpty: Bool { troubles.isEmpty && failures.isEmpty }

  var html: HTML {
    guard !isEmpty else {
      return PageParts.notice("good") { Tag.p { "Nothing needs you." } }
    }
    return HTML {
      Tag.ul(.class("troubles")) {
        for trouble in troubles.prefix(Self.shownMax) { item(trouble) }
        for failure in failures.prefix(Self.shownMax) { item(failure.app, failure.count) }
      }
      if troubles.count > Self.shownMax {
        Tag.p(.class("summary")) {
          Tag.a(.href(Link("alerts"))) {
            "All \(PageParts.counted(Int64(troubles.count), "trouble"))"
          }
        }
      }
    }
  }

  /// All of them, for the page about alerts.
  var whole: HTML {
    guard !isEmpty else { return html }
    return Tag.ul(.class("troubles")) {
      for trouble in troubles { item(trouble) }
      for failure in failures { item(failure.app, failure.count) }
    }
  }

  private func item(_ app: AppSlug, _ count: Int64) -> HTML {
    Tag.li {
      Tag.p {
        Tag.strong {
          "\(PageParts.counted(count, "failed receipt")) of "
          PageParts.untrusted(app)
          count == 1 ? " is new" : " are new"
        }
        " · "
        Tag.a(.href(Link("apps", app.text))) { PageParts.untrusted(app) }
        " · "
        Tag.a(.href(Link("failed"))) { "Failures" }
      }
      Tag.p(.class("next")) { "Fix the cause and replay the group, or acknowledge it." }
    }
  }

  private func item(_ trouble: Finding) -> HTML {
    Tag.li {
      Tag.p {
        Tag.strong { PageParts.untrusted(trouble.what.capitalizedFirst) }
        ", began "
        PageParts.time(trouble.since, now: now)
        if let app = trouble.app {
          " · "
          Tag.a(.href(Link("apps", app.text))) { PageParts.untrusted(app) }
        }
        if trouble.alert == .receiptFailed {
          " · "
          Tag.a(.href(Link("failed"))) { "Failures" }
        }
        if let app = trouble.app, ["oldest_pending", "breaker_open"].contains(trouble.alert?.name) {
          " · "
          Tag.a(.href(Link("receipts", query: [("app", app.text), ("state", "pending")]))) {
            "Pending receipts"
          }
        }
      }
      Tag.p(.class("next")) { PageParts.untrusted(trouble.next ?? "") }
    }
  }
}
