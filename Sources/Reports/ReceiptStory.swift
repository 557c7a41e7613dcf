// The history of one receipt in order of time, for the terminal and for pages. Pure; called from any thread.
// Nothing is sanitized or escaped: callers do that.

public import Domain
internal import Formats
public import Store

/// The history of one receipt.
public struct ReceiptStory: Sendable, Equatable {
  public struct Entry: Sendable, Equatable {
    public var time: Timestamp
    public var what: String
    public var tone = Tone.plain
    public var detail = ""
    /// The destination's answer, unchanged.
    public var answer: [UInt8] = []
    /// The id in the detail, if there is one.
    public var id: NamedID?
  }

  /// The entries, oldest first.
  public private(set) var entries: [Entry] = []

  /// - Parameters:
  ///   - audit: the operators' changes to the receipt or the payment itself.
  ///   - jobs: the jobs that include the receipt.
  public init(
    _ detail: ReceiptDetail, audit: [AuditRecord] = [], jobs: [(job: Job, outcome: JobOutcome)] = []
  ) {
    addContext(detail)
    addOperatorActions(audit, jobs)
    addPayment(detail)
    addClaims(detail)
    for event in detail.events {
      entries.append(
        Entry(time: event.receivedAt, what: "event", detail: Self.text(event), id: .event(event.id)))
    }
    if let receipt = detail.record.receipt { addReceipt(receipt, detail) }
    // Entries with equal times keep the order above, so that causes precede effects.
    let ordered = entries.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
    entries = ordered.map(\.element)
  }

  private mutating func addReceipt(_ receipt: Receipt, _ detail: ReceiptDetail) {
    entries.append(Entry(time: receipt.createdAt, what: "receipt created"))
    if let ready = receipt.readyAt {
      entries.append(Entry(time: ready, what: "ready", detail: "the content to send is fixed from now on"))
    }
    if let since = receipt.retrySince, let ready = receipt.readyAt, since > ready {
      entries.append(
        receipt.isReversal && !receipt.isReplay
          ? Entry(
            time: since, what: "reversed", tone: .pending,
            detail: "the destination is notified that the money went back")
          : Entry(time: since, what: "replayed", tone: .pending, detail: "with a fresh retry budget"))
    }
    for attempt in detail.attempts { entries.append(Self.entry(attempt)) }
    addEnd(detail.record, receipt)
  }

  private mutating func addPayment(_ detail: ReceiptDetail) {
    let purchase = detail.record.purchase
    if purchase.observations.contains(.started) {
      entries.append(
        Entry(time: purchase.createdAt, what: "started", detail: "the app started the payment at the relay"))
    }
    if purchase.isOfStore {
      entries.append(
        Entry(time: purchase.createdAt, what: "reported", detail: "the app reported a purchase in its store"))
    }
    for capture in detail.captures {
      entries.append(Entry(time: capture.orderedAt, what: "capture", detail: "ordered"))
      if let meaning = PaymentText.meaning(of: capture), let endedAt = capture.endedAt {
        entries.append(
          Entry(
            time: endedAt, what: "capture", tone: capture.outcome == .captured ? .good : .bad,
            detail: meaning))
      } else {
        entries.append(
          Entry(time: capture.retryAt, what: "next call", tone: .pending, detail: "to finish the capture"))
      }
    }
    if let dueAt = detail.lookup?.dueAt {
      entries.append(
        Entry(time: dueAt, what: "lookup", tone: .pending, detail: "the processor is asked"))
    }
  }

  private mutating func addContext(_ detail: ReceiptDetail) {
    guard let context = detail.context else { return }
    let price = context.blob.priceID.map { ", names \($0)" } ?? ""
    entries.append(
      Entry(
        time: context.receivedAt, what: "context", detail: "\(context.id)\(price)", id: .context(context.id)))
    if context.postedAt > context.receivedAt {
      entries.append(
        Entry(
          time: context.postedAt, what: "context", detail: "\(context.id) posted again",
          id: .context(context.id)))
    }
  }

  private mutating func addClaims(_ detail: ReceiptDetail) {
    for claim in detail.claims {
      let origin =
        switch claim.origin {
        case .page: "on the return page"
        case .operator: "by \(claim.actor ?? "an operator")"
        case .webhook: "by a webhook"
        }
      entries.append(
        Entry(
          time: claim.offeredAt, what: "claim", tone: .waiting,
          detail: "\(claim.id) offered \(origin), until \(claim.expiresAt.clock(today: claim.offeredAt))"))
      guard let endedAt = claim.endedAt else { continue }
      let end = claim.userID.map { "claimed by \($0)" } ?? "revoked"
      entries.append(
        Entry(
          time: endedAt, what: "claim", tone: claim.userID == nil ? .ended : .good,
          detail: "\(claim.id) \(end)", id: claim.userID.map { .user($0) }))
    }
  }

  private mutating func addOperatorActions(
    _ audit: [AuditRecord], _ jobs: [(job: Job, outcome: JobOutcome)]
  ) {
    for record in audit {
      let entry = record.entry
      let why = entry.reason.map { ": \($0)" } ?? ""
      entries.append(
        Entry(time: entry.at, what: "change", tone: .waiting, detail: "\(entry.actor), \(entry.action)\(why)")
      )
    }
    for (job, outcome) in jobs {
      let request = job.request
      let why = request.reason.map { ": \($0)" } ?? ""
      let came = outcome == .skipped ? ", which did not change it" : ""
      entries.append(
        Entry(
          time: job.createdAt, what: "job", tone: .waiting,
          detail: "\(job.id), \(request.kind.rawValue), started by \(request.actor)\(why)\(came)",
          id: .job(job.id)))
    }
  }

  private mutating func addEnd(_ record: PurchaseRecord, _ receipt: Receipt) {
    let reason = receipt.reason?.meaning ?? ""
    switch receipt.state {
    case .delivered:
      let importID =
        receipt.importID.map { "accepted with the import id \($0)" }
        ?? (record.purchase.isErased ? "accepted" : "accepted; the answer had no import id")
      entries.append(
        Entry(
          time: receipt.deliveredAt ?? record.updatedAt, what: "delivered", tone: .good, detail: importID,
          id: receipt.importID.map(NamedID.importID)))
    case .failed:
      let cause = receipt.lastCause.flatMap { $0 == receipt.reason ? nil : "; the last cause was \($0.text)" }
      entries.append(
        Entry(time: record.updatedAt, what: "failed", tone: .bad, detail: reason + (cause ?? "")))
    case .cancelled:
      entries.append(
        Entry(time: record.updatedAt, what: "cancelled", tone: .ended, detail: receipt.note ?? reason))
    case .pending:
      if let next = receipt.nextAttemptAt {
        entries.append(Entry(time: next, what: "next attempt", tone: .pending, detail: "due"))
      }
    case .waiting:
      if let until = receipt.waitUntil {
        entries.append(Entry(time: until, what: "wait ends", tone: .waiting, detail: reason))
      }
    }
  }

  private static func text(_ event: EventSummary) -> String {
    let outcome = event.outcome == EventOutcome.receipt.rawValue ? "" : ", \(event.outcome)"
    return "\(event.type) \(event.id)\(outcome)"
  }

  private static func entry(_ attempt: LoggedAttempt) -> Entry {
    let report = attempt.report
    let took = report.duration.milliseconds
    var detail =
      report.status.map { "\($0) in \(took) ms" } ?? "\(report.error ?? "no answer") after \(took) ms"
    if report.status.map({ (200...299).contains($0) }) ?? false, !report.isAcceptance {
      detail += "; \(report.cause.meaning)"
    }
    if let said = report.detail { detail += "; \(said)" }
    if report.isAmbiguous { detail += "; it was sent, so it may have arrived" }
    return Entry(
      time: report.startedAt, what: "attempt \(attempt.number)", tone: report.isAcceptance ? .good : .pending,
      detail: detail, answer: report.response)
  }
}
