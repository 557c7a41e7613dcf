// Failed receipts by app, reason and cause. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

/// Groups of failed receipts, each with a link to replay it.
struct FailedPage {
  static let groupsMax = 100

  let groups: [FailureGroup]
  /// Those that have not ended.
  let replays: [Job]
  /// Whether the apps have several processors.
  let showsProcessor: Bool
  let now: Timestamp

  var page: DashboardPage {
    DashboardPage(title: "Failures", place: .failed) {
      Tag.h1 { "Failures" }
      if groups.isEmpty {
        Tag.p(.class("empty")) { "Nothing has failed." }
      } else {
        Tag.p(.class("lead")) {
          "Failed receipts are not sent again automatically. Fix the cause first, then replay a whole group."
        }
        Tag.p(.class("summary")) { ListParts.exports { suffix in Link("failed\(suffix)") } }
        let (known, open) = (
          groups.filter { $0.attention == .acknowledged }, groups.filter { $0.attention != .acknowledged }
        )
        if open.isEmpty {
          PageParts.notice("good") { Tag.p { "Somebody takes care of every group, and none has grown." } }
        } else {
          table(open, "New or growing, the largest group first")
        }
        if !known.isEmpty { table(known, "Acknowledged, and not grown since") }
      }
    }
  }

  private func table(_ groups: [FailureGroup], _ caption: String) -> HTML {
    var table = DataTable(
      caption,
      [.init("Reason"), .init("App")] + (showsProcessor ? [.init("Processor")] : []) + [
        .init("Receipts", isNumber: true), .init("Newest"), .init("State", isLong: true), .init("Actions"),
      ])
    for group in groups {
      let query: [(name: String, value: String?)] = [
        ("app", group.app.text), ("processor", group.processor.text), ("reason", group.reason),
        ("cause", group.cause == group.reason ? nil : group.cause),
      ]
      // In the order of the list's URL.
      var listQuery = query
      listQuery.insert(("state", "failed"), at: 2)
      table.rows.append(
        [
          HTML {
            Tag.span(.class("reason-name")) { PageParts.untrusted(group.reason) }
            " "
            Tag.span(.class("meaning")) {
              Reason(group.reason).meaning
              if let cause = group.cause, cause != group.reason {
                "; the last cause was "
                PageParts.untrusted(cause)
              }
            }
          },
          Tag.a(.href(Link("apps", group.app.text))) { PageParts.untrusted(group.app) },
        ] + (showsProcessor ? [PageParts.untrusted(group.processor)] : []) + [
          Tag.a(.href(Link("receipts", query: listQuery))) {
            PageParts.number(group.count)
          },
          PageParts.time(group.newest, now: now), state(group),
          Tag.div(.class("row-actions")) {
            again(group, query, list: listQuery)
            care(group, query)
          },
        ])
    }
    return table.html
  }

  /// Who takes care of it, and whether it has grown.
  private func state(_ group: FailureGroup) -> HTML {
    HTML {
      switch group.attention {
      case .new: Tag.span(.class("badge alarm")) { "new" }
      case .growing:
        Tag.span(.class("badge alarm")) { "\(PageParts.number(group.growth)) more" }
      case .acknowledged: Tag.span(.class("badge cancelled")) { "acknowledged" }
      }
      if let replay = replays.first(where: { $0.replays(group) }) {
        " "
        Tag.a(.href(NamedID.job(replay.id).link)) {
          replay.state == .paused ? "replay paused" : "replay under way"
        }
      }
      if let known = group.acknowledgement {
        " "
        Tag.span(.class("meaning")) {
          PageParts.untrusted(known.owner)
          ", "
          PageParts.time(known.at, now: now)
          if !known.note.isEmpty {
            ": "
            PageParts.untrusted(known.note)
          }
        }
      }
    }
  }

  private func care(_ group: FailureGroup, _ query: [(name: String, value: String?)]) -> HTML {
    let change = group.attention == .acknowledged ? FailureChange.reopen : .acknowledge
    return Tag.a(
      .class("button quiet small"), .href(Link("failed", change.rawValue, query: query)),
      .label("\(change.label) \(group.reason) of \(group.app)…")
    ) { "\(change.label)…" }
  }

  /// A replay of a group skips receipts that lack data or are unpaid, so the page says what helps instead.
  private func again(
    _ group: FailureGroup, _ query: [(name: String, value: String?)], list: [(name: String, value: String?)]
  ) -> HTML {
    let reason = Reason(group.reason)
    switch reason {
    case .payment: return Tag.span(.class("meaning")) { "if it is paid, it continues automatically" }
    case .subscription: return Tag.span(.class("meaning")) { "its id comes with the payment" }
    case _ where reason.forbidsReplay:
      return Tag.a(
        .class("button quiet small"), .href(Link("receipts", query: list)),
        .title("Complete them one by one"),
        .label("Open receipts of \(group.app) with \(group.reason), to complete them one by one")
      ) { "Open receipts…" }
    default: break
    }
    return Tag.a(
      .class("button quiet small"), .href(Link("failed", "replay", query: query)),
      .label("Replay \(group.reason) of \(group.app)…")
    ) { "Replay…" }
  }
}

extension FailureGroup {
  /// Its receipts, exactly.
  var filter: ReceiptFilter {
    var filter = ReceiptFilter()
    (filter.app, filter.processor, filter.state) = (app, processor, .failed)
    (filter.reason, filter.cause) = (reason, cause ?? "")
    return filter
  }
}
