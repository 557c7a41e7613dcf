// What happened to one receipt, in order of time. Pure.

internal import Domain
internal import Platform
internal import Store
internal import Terminal

/// The story of one receipt.
struct ReceiptTimeline {
  /// How much of an answer is shown; `--json` has all that was kept.
  static let responseCharactersMax = 200

  private struct Entry {
    var time: Timestamp
    var what: String
    var style = Style.plain
    var detail = ""
  }

  private var entries: [Entry] = []

  /// - Parameters:
  ///   - audit: what persons did to it by its id.
  ///   - jobs: the jobs that it was chosen for.
  init(
    _ detail: ReceiptDetail, _ receipt: Receipt, audit: [AuditRecord] = [],
    jobs: [(job: Job, outcome: JobOutcome)] = []
  ) {
    addContext(detail)
    addPersons(audit, jobs)
    for event in detail.events {
      entries.append(Entry(time: event.receivedAt, what: "event", detail: Self.text(event)))
    }
    entries.append(Entry(time: receipt.createdAt, what: "receipt made"))
    if let ready = receipt.readyAt {
      entries.append(Entry(time: ready, what: "ready", detail: "what is sent is fixed from here"))
    }
    if let since = receipt.retrySince, let ready = receipt.readyAt, since > ready {
      entries.append(
        Entry(time: since, what: "replayed", style: .yellow, detail: "with a fresh retry budget"))
    }
    for attempt in detail.attempts { entries.append(Self.entry(attempt)) }
    addEnd(detail.record, receipt)
    // Equal times stay in the order above, which is that of cause and effect.
    let ordered = entries.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
    entries = ordered.map(\.element)
  }

  private mutating func addContext(_ detail: ReceiptDetail) {
    guard let context = detail.context else { return }
    let price = context.blob.priceID.map { ", names \($0)" } ?? ""
    entries.append(Entry(time: context.receivedAt, what: "context", detail: "\(context.id)\(price)"))
    if context.postedAt > context.receivedAt {
      entries.append(Entry(time: context.postedAt, what: "context", detail: "\(context.id) posted again"))
    }
  }

  private mutating func addPersons(_ audit: [AuditRecord], _ jobs: [(job: Job, outcome: JobOutcome)]) {
    for record in audit {
      let entry = record.entry
      let why = entry.reason.map { ": \($0)" } ?? ""
      entries.append(
        Entry(time: entry.at, what: "person", style: .cyan, detail: "\(entry.actor), \(entry.action)\(why)"))
    }
    for (job, outcome) in jobs {
      let request = job.request
      let why = request.reason.map { ": \($0)" } ?? ""
      let came = outcome == .skipped ? ", which left it as it was" : ""
      entries.append(
        Entry(
          time: job.createdAt, what: "job", style: .cyan,
          detail: "\(job.id), \(request.kind.rawValue), made by \(request.actor)\(why)\(came)"))
    }
  }

  private mutating func addEnd(_ record: PurchaseRecord, _ receipt: Receipt) {
    let reason = receipt.reason.map(ReceiptAdvice.meaning(of:)) ?? ""
    switch receipt.state {
    case .delivered:
      let importID = receipt.importID.map { "taken in under the import id \($0)" } ?? "taken in"
      entries.append(
        Entry(
          time: receipt.deliveredAt ?? record.updatedAt, what: "delivered", style: .green, detail: importID))
    case .failed: entries.append(Entry(time: record.updatedAt, what: "failed", style: .red, detail: reason))
    case .cancelled:
      entries.append(
        Entry(time: record.updatedAt, what: "cancelled", style: .dim, detail: receipt.note ?? reason))
    case .pending:
      if let next = receipt.nextAttemptAt {
        entries.append(Entry(time: next, what: "next try", style: .yellow, detail: "due"))
      }
    case .waiting:
      if let until = receipt.waitUntil {
        entries.append(Entry(time: until, what: "wait ends", style: .cyan, detail: reason))
      }
    }
  }

  private static func text(_ event: EventSummary) -> String {
    let outcome = event.outcome == EventOutcome.receipt.rawValue ? "" : ", \(event.outcome)"
    return "\(event.type) \(event.id)\(outcome)"
  }

  private static func entry(_ attempt: LoggedAttempt) -> Entry {
    let report = attempt.report
    let took = report.durationMilliseconds
    let isSuccess = report.status.map { (200..<300).contains($0) } ?? false
    var detail =
      report.status.map { "\($0) in \(took) ms" } ?? "\(report.error ?? "no answer") after \(took) ms"
    if report.isAmbiguous { detail += "; it was sent, so it may have arrived" }
    let response = DisplayText.clean(String(decoding: report.response, as: UTF8.self))
    if !response.isEmpty { detail += ": \(DisplayText.truncated(response, to: responseCharactersMax))" }
    return Entry(
      time: report.startedAt, what: "try \(attempt.number)", style: isSuccess ? .green : .yellow,
      detail: detail)
  }

  func table(_ session: Session) -> Table {
    var table = Table([.init("TIME"), .init("WHEN"), .init("WHAT"), .init("DETAIL")], emptyMessage: "")
    for entry in entries {
      table.add([
        Table.Cell(entry.time.text), Table.Cell(session.relative(entry.time)),
        Table.Cell(entry.what, entry.style),
        Table.Cell(entry.detail),
      ])
    }
    return table
  }
}
