// What needs an operator now: the findings of `receiptctl`, each with a title, one line of detail and one
// button; and the failures that nobody has acknowledged. Pure; called from any thread.

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

  /// - Parameter found: of several with one alert, only the first is listed.
  init(_ found: [Finding], newFailures: [AppSlug: Int64], now: Timestamp) {
    var seen: Set<Finding.Key> = []
    let troubles = found.filter { finding in
      finding.level != .ok && (finding.key.map { seen.insert($0).inserted } ?? true)
    }
    let known = Set(troubles.filter { $0.alert == .receiptFailed }.compactMap(\.app))
    failures = newFailures.filter { !known.contains($0.key) }.map { (app: $0.key, count: $0.value) }
      .sorted { (-$0.count, $0.app) < (-$1.count, $1.app) }
    self.troubles = troubles.map { (TroubleText($0).rank, $0) }.sorted {
      ($0.0, $0.1.since ?? now, $0.1.app?.text ?? "") < ($1.0, $1.1.since ?? now, $1.1.app?.text ?? "")
    }.map(\.1)
    self.now = now
  }

  private var isEmpty: Bool { troubles.isEmpty && failures.isEmpty }

  var html: HTML {
    guard !isEmpty else {
      return PageParts.notice("good") { Tag.p { "Nothing needs you." } }
    }
    return HTML {
      list(troubles.prefix(Self.shownMax), failures.prefix(Self.shownMax))
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
  var whole: HTML { isEmpty ? html : list(troubles[...], failures[...]) }

  private func list(
    _ troubles: ArraySlice<Finding>, _ failures: ArraySlice<(app: AppSlug, count: Int64)>
  ) -> HTML {
    let worse = troubles.prefix { TroubleText($0).rank <= TroubleText.rankOfFailures }
    return Tag.ul(.class("troubles")) {
      for trouble in worse { item(trouble) }
      for failure in failures { item(failure.app, failure.count) }
      for trouble in troubles.dropFirst(worse.count) { item(trouble) }
    }
  }

  private func item(_ app: AppSlug, _ count: Int64) -> HTML {
    Tag.li {
      Tag.div {
        Tag.p {
          Tag.strong { "Failed receipts are new" }
          appLink(app)
        }
        Tag.p(.class("next")) {
          "\(PageParts.counted(count, "failed receipt")) of "
          PageParts.untrusted(app)
          ": fix the cause and replay the group, or acknowledge it."
        }
      }
      button(TroubleText.replay)
    }
  }

  private func item(_ trouble: Finding) -> HTML {
    let text = TroubleText(trouble)
    return Tag.li(trouble.alert == .appPaused ? [.class("pending")] : []) {
      Tag.div {
        Tag.p {
          Tag.strong { text.title }
          if let app = trouble.app { appLink(app) }
          if let since = trouble.since {
            " · began "
            PageParts.time(since, now: now)
          }
        }
        Tag.p(.class("next")) {
          PageParts.untrusted(
            trouble.what.hasPrefix("receiptd") ? trouble.what : trouble.what.capitalizedFirst)
          if let next = trouble.next, text.needsWords { PageParts.untrusted(". \(next)") }
        }
      }
      if let act = text.act { button(act) }
    }
  }

  private func appLink(_ app: AppSlug) -> HTML {
    HTML {
      " · "
      Tag.a(.href(Link("apps", app.text))) { PageParts.untrusted(app) }
    }
  }

  private func button(_ act: (label: String, link: Link)) -> HTML {
    Tag.a(.class("button quiet small"), .href(act.link)) { act.label }
  }
}

// MARK: - TroubleText

/// How the dashboard shows a finding.
struct TroubleText {
  /// At most eight words.
  let title: String
  /// The button that acts; nil if nothing on a page helps.
  var act: (label: String, link: Link)?
  /// How early it is listed: from 0.
  let rank: Int

  static let replay = (label: "Replay failures…", link: Link("failed"))
  /// Those with which customers are being lost first, an operator's own pause last.
  private static let severity = [
    "database", "corruption", "disk_low", "no_events", "signature_failures", "unreadable_events",
    "unmatched_purchases", "contexts_refused", "breaker_open", "receipt_failed", "capture_unknown",
    "processor_failures", "contexts_unjoined", "user_conflict", "callbacks_missing", "oldest_pending",
    "backlog_growing", "association_files", "certificate_expires", "clock", "reload_refused", "backup_old",
  ]

  static let rankOfFailures = severity.firstIndex(of: AlertCondition.receiptFailed.name) ?? 0

  /// Whether the page has to say in words what to do.
  private(set) var needsWords = true

  init(_ finding: Finding) {
    let name = finding.alert?.name
    rank =
      name == AlertCondition.appPaused.name
      ? .max : name.flatMap { Self.severity.firstIndex(of: $0) } ?? Self.severity.count
    let app = finding.app?.text
    func list(_ path: String, _ fields: (name: String, value: String?)...) -> Link {
      Link(path, query: [("app", app)] + fields)
    }
    let pending = (label: "Open pending receipts", link: list("receipts", ("state", "pending")))
    switch finding.alert {
    case .database: title = "The database cannot be used"
    case .corruption: title = "The database is damaged"
    case .diskLow: title = "The disk is nearly full"
    case .noEvents: (title, act) = ("No events arrive", ("Open events", list("events")))
    case .signatureFailures: title = "Webhooks are refused"
    case .unreadableEvents:
      (title, act) = ("Events cannot be read", ("Open events", list("events", ("outcome", "unparsed"))))
    case .unmatchedPurchases:
      (title, act) = ("Paid purchases name no user", ("Open events", list("events", ("outcome", "noted"))))
    case .contextsRefused: title = "Contexts are refused"
    case .breakerOpen:
      title =
        finding.level == .failure ? "A destination refuses the configuration" : "A destination is down"
      act = app.map { ("Retry now…", Link("apps", $0, "retry-now")) }
      needsWords = finding.level == .failure
      return
    case .receiptFailed: (title, act) = ("Receipts failed", Self.replay)
    case .captureUnknown: title = "A capture has no outcome"
    case .processorFailures: title = "Calls to a processor fail"
    case .contextsUnjoined:
      (title, act) = ("Contexts no longer join", ("Open receipts", list("receipts", ("join", "none"))))
    case .userConflict:
      title = "Sources name different users"
      act = ("Open receipts", list("receipts", ("user_conflict", "yes")))
    case .callbacksMissing: title = "Callbacks of a processor are missing"
    case .oldestPending where finding.level == .failure: title = "An app is not configured"
    case .oldestPending: (title, act) = ("A receipt is late", pending)
    case .backlogGrowing: (title, act) = ("Pending receipts become more", pending)
    case .certificateExpires: title = "A certificate expires soon"
    case .clock: title = "The clock of this machine is wrong"
    case .reloadRefused: title = "The last reload was refused"
    case .backupOld: title = "The last backup is old"
    case .associationFiles: title = "Links open the browser, not the app"
    case .appPaused:
      title = "Deliveries are paused by an operator"
      act = app.map { ("Resume…", Link("apps", $0, "resume")) }
    case .unknown, nil: title = Self.title(finding.check)
    }
    needsWords = act == nil
  }

  private static func title(_ check: Finding.Check) -> String {
    switch check {
    case .receiptd: "receiptd is not ready"
    case .applied, .configuration: "The configuration needs you"
    case .work: "Some receipts need a look"
    case .webhooks: "Webhooks need a look"
    default: "Have a look: \(check.rawValue)"
    }
  }
}
