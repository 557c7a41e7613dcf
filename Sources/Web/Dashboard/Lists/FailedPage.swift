// Failed receipts by app, reason and cause. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

/// Groups of failed receipts, each with a link to replay it.
struct FailedPage {
  static let groupsMax = 100

  /// A group with its newest receipt, its trend, and what its destination said.
  struct Group {
    /// Of larger numbers of groups, the first ones have an example and a trend.
    static let examplesMax = 20
    static let messageBytesMax = 160

    let failures: FailureGroup
    var example: ReceiptID?
    /// The receipts of each of the last 24 hours, oldest first.
    var hours: [Int64] = []
    /// Untrusted.
    var message = ""

    /// - Parameter withAnswers: whether the reader may see answers, which may repeat what was sent.
    static func all(
      _ reader: StoreReader, withAnswers: Bool, now: Timestamp
    ) throws(StoreFault) -> [Group] {
      try reader.snapshot { () throws(StoreFault) in
        var groups = try reader.failures(limit: FailedPage.groupsMax).map { Group(failures: $0) }
        for index in groups.indices.prefix(examplesMax) {
          let newest = try reader.receipts(groups[index].failures.filter, limit: 1).first
          guard let newest, let id = newest.receipt?.id else { continue }
          let report = try reader.attempts(ofPurchase: newest.rowID).last?.report
          groups[index].example = id
          groups[index].hours = try reader.trend(of: groups[index].failures, now: now)
          let bytes = withAnswers ? report?.response ?? [] : []
          let answer = String(decoding: bytes.prefix(messageBytesMax), as: UTF8.self)
          groups[index].message = answer.isEmpty ? report?.error ?? "" : answer
        }
        return groups
      }
    }
  }

  let groups: [Group]
  /// Those that have not ended.
  let replays: [Job]
  let mayChange: Bool
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
        if groups.allSatisfy({ $0.failures.attention == .acknowledged }) {
          PageParts.notice("good") { Tag.p { "Somebody takes care of every group, and none has grown." } }
        }
        table
      }
    }
  }

  private var table: HTML {
    var table = DataTable(
      "New or growing first, then those that somebody takes care of",
      [.init("Failure", isLong: true), .init("App")] + (showsProcessor ? [.init("Processor")] : []) + [
        .init("Receipts", isNumber: true), .init("Made in 24 hours"), .init("Newest"),
        .init("Said by the destination", isLong: true), .init("State", isLong: true),
      ] + (mayChange ? [.init("Actions")] : []))
    for entry in groups {
      let group = entry.failures
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
            Tag.span(.class("reason-name")) { Reason(group.reason).meaning.capitalizedFirst }
            " "
            Tag.span(.class("meaning")) {
              PageParts.untrusted(group.reason)
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
          entry.hours.isEmpty
            ? HTML {} : Sparkline(hours: entry.hours.map { DeliveryCount(failed: $0) }).html,
          PageParts.time(group.newest, now: now), said(entry), state(group),
        ] + (mayChange ? [actions(group, query, list: listQuery)] : []))
    }
    return table.html
  }

  private func actions(
    _ group: FailureGroup, _ query: [(name: String, value: String?)], list: [(name: String, value: String?)]
  ) -> HTML {
    Tag.div(.class("row-actions")) {
      again(group, query, list: list)
      care(group, query)
    }
  }

  private func said(_ group: Group) -> HTML {
    HTML {
      if !group.message.isEmpty {
        PageParts.untrusted(group.message)
        " "
      }
      if let example = group.example {
        Tag.a(.href(NamedID.receipt(example).link), .label("An example: \(example)")) { "example" }
      }
    }
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
