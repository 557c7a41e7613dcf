// Replays of the receipts that a list shows.

internal import Config
internal import Domain
internal import Formats
internal import HTTPServer
internal import Platform
internal import Reports
internal import Service
internal import Store

extension Dashboard {
  private static let filterField = "filter"

  var replayOfListed: OperatorAction {
    OperatorAction(
      "/replay", "Replay the failed receipts that a filter chooses",
      [
        .init(Self.filterField, "The query of their list, such as `state=failed&app=ios`", isRequired: true),
        .rate, .why,
      ]
    ) { dashboard, visit, form throws(Refusal) in
      try dashboard.confirmation(
        listed: dashboard.listed(form[Self.filterField] ?? visit.head.query),
        rate: form["rate"])
    } change: { dashboard, visit, form, exchange throws(Refusal) in
      try dashboard.replayListed(form, visit.visitor, exchange)
    }
  }

  /// The failed receipts that a query chooses.
  private func listed(_ query: String?) throws(Refusal) -> ListSearch<ReceiptFilter> {
    let search: ListSearch<ReceiptFilter>
    do throws(Fault) {
      search = try ListSearch(query: query, now: now)
    } catch {
      throw .problem(Self.problem(error))
    }
    if isProgram { try self.form(query).check(known: ReceiptFilter.fields.map(\.queryName)) }
    guard search.filter.state == .failed, search.after == nil else {
      throw .problem(Self.invalid("state", "must be failed"))
    }
    return search
  }

  private static func purpose(_ search: ListSearch<ReceiptFilter>) -> String { "replay \(search.query)" }

  private func confirmation(
    listed search: ListSearch<ReceiptFilter>, rate: String? = nil, complaint: String? = nil
  ) throws(Refusal) -> ConfirmationPage {
    let (total, replays) = try read { source throws(StoreFault) in
      (try source.reader.total(search.filter), try source.reader.openReplays())
    }
    let count = total.map { ListParts.text($0, "receipt") } ?? "the listed receipts"
    let filters = search.given.map { "\($0.field.label.lowercased()) \($0.text)" }.joined(separator: ", ")
    return ConfirmationPage(
      title: "Replay \(count)?", place: .receipts,
      text: Self.warnings(replays, Int64(total?.count ?? 0), rate: rate) + [
        "They are chosen by: \(filters). Those that lack data, or are unpaid, stay as they are.",
        "New receipts are delivered before them. Fix the cause first, or they fail again.",
      ], subject: replays.first.map { .job($0.id) }, button: "Replay \(count)", needsReason: false,
      target: Link("replay"),
      hidden: [
        (Self.tokenField, tokens.token(for: Self.purpose(search))), (Self.filterField, search.query),
      ], fields: [.rate(rate ?? ConfirmationPage.rateDefault)],
      back: Link("receipts", query: search.given.map { ($0.field.queryName, $0.text) }),
      complaint: complaint)
  }

  /// What an operator should know before a replay of many receipts: another one that has not ended, and how
  /// long it takes at its rate.
  /// - Parameter typed: the rate that was asked for, if one was.
  static func warnings(_ replays: [Job], _ count: Int64, rate typed: String?) -> [String] {
    let text = typed ?? ConfirmationPage.rateDefault
    let rate = Double(text).flatMap { JobRequest.rates.contains($0) ? $0 : nil }
    let seconds = rate.map { Double(max(0, count)) / $0 } ?? 0
    return
      (replays.first.map { ["Another replay has not ended, and shares the deliveries: \($0.id)."] } ?? [])
      + (seconds >= 1
        ? ["At \(text) a second it takes about \(RelativeTime.left(seconds: seconds))."] : [])
  }

  private func replayListed(_ form: AdminForm, _ visitor: String, _ exchange: Exchange) throws(Refusal) {
    let search = try listed(form[Self.filterField])
    try check(form, for: Self.purpose(search))
    let typed = form["rate"] ?? ConfirmationPage.rateDefault
    guard let rate = Double(typed), JobRequest.rates.contains(rate) else {
      let page = try confirmation(listed: search, rate: typed, complaint: ConfirmationPage.rateComplaint)
      return answer(.question(page), exchange)
    }
    replay(search.filter, rate: rate, form["why"], visitor, exchange)
  }
}
