// What needs an operator now: the problems of `receiptctl status`, and the failures that nobody has
// acknowledged. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Service

struct TroubleList {
  static let shownMax = 20

  private let troubles: [Finding]
  /// Without it there are no buttons that lead to a change.
  private let mayChange: Bool
  private let now: Timestamp

  /// - Parameters: as of `Finding.problems`, and the failures that nobody has acknowledged.
  init(
    _ reported: [Finding], _ troubles: [Finding], newFailures: [AppSlug: Int64], mayChange: Bool = true,
    now: Timestamp
  ) {
    let failures = newFailures.map { Finding.newFailures($0.value, app: $0.key) }
    self.troubles = Finding.problems(reported, troubles + failures, now: now)
    self.mayChange = mayChange
    self.now = now
  }

  var html: HTML {
    HTML {
      list(troubles.prefix(Self.shownMax))
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
  var whole: HTML { list(troubles[...]) }

  private func list(_ troubles: ArraySlice<Finding>) -> HTML {
    guard !troubles.isEmpty else {
      return PageParts.notice("good") { Tag.p { "Nothing needs you." } }
    }
    return Tag.ul(.class("troubles")) {
      for trouble in troubles { item(trouble) }
    }
  }

  private func item(_ trouble: Finding) -> HTML {
    let button = trouble.button
    return Tag.li(trouble.urgency == .intended ? [.class("pending")] : []) {
      Tag.div {
        Tag.p {
          Tag.strong { trouble.title }
          if let app = trouble.app {
            " · "
            Tag.a(.href(Link("apps", app.text))) { PageParts.untrusted(app) }
          }
          if let since = trouble.since {
            " · began "
            PageParts.time(since, now: now)
          }
        }
        Tag.p(.class("next")) {
          PageParts.untrusted(
            trouble.what.hasPrefix("receiptd") ? trouble.what : trouble.what.capitalizedFirst)
          if let next = trouble.next, button == nil { PageParts.untrusted(". \(next)") }
        }
      }
      // A label that ends in … leads to a form.
      if let button, mayChange || !button.label.hasSuffix("…") {
        Tag.a(.class("button quiet small"), .href(button.link)) { button.label }
      }
    }
  }
}

extension Finding {
  /// The page on which its act begins.
  fileprivate var button: (label: String, link: Link)? {
    switch act {
    case .open(let list, let filters):
      let fields = filters.sorted { $0.key < $1.key }.map { (name: $0.key, value: String?.some($0.value)) }
      return ("Open \(list)", Link(list, query: [("app", app?.text)] + fields))
    case .replayFailures: return ("Replay failures…", Link("failed"))
    case .retryNow: return app.map { ("Retry now…", Link("apps", $0.text, AppChange.retryNow.rawValue)) }
    case .resume: return app.map { ("Resume…", Link("apps", $0.text, AppChange.resume.rawValue)) }
    case nil: return nil
    }
  }
}
