// One receipt: its facts, its history, and the actions on it. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

struct ReceiptPage {
  /// The most audit entries shown, newest first; operators make far fewer for one receipt.
  static let auditEntryLimit = 200

  let detail: ReceiptDetail
  let receipt: Receipt
  /// What was bought; nil if no event says it.
  let summary: PurchaseSummary?
  let story: ReceiptStory
  /// That of its destination.
  let breaker: Breaker?
  let pause: AppPause
  /// Nil if it has no destination.
  let destinationAdvice: DestinationAdvice?
  let destinations: PurchaseDestinations
  /// The app's `delivery.rate`.
  let rate: Double?
  /// The rules of its processor; nil if the receipt's app is not configured.
  let processor: ProcessorRules?
  /// Whether it failed with a group that somebody takes care of.
  let isKnownFailure: Bool
  /// The processor's display name; nil if the app is not configured with it.
  let processorLabel: String?
  let portal: Portal
  /// Whether the user may change something, and read the context, what is sent and the answers to it.
  let mayChange: Bool
  /// The action just done, from the URL.
  let done: String?
  let now: Timestamp

  var page: DashboardPage {
    DashboardPage(title: "Receipt \(receipt.id)", place: .receipts) {
      Tag.p(.class("crumb")) { Tag.a(.href(Link("receipts"))) { "Receipts" } }
      Tag.h1(.class("id")) { PageParts.identifier(receipt.id) }
      Tag.p(.class("lead")) {
        PageParts.badge(receipt.state.rawValue, tone(receipt.state.tone))
        " "
        advice
      }
      if let message { PageParts.notice("good") { Tag.p { message } } }
      if mayChange { buttons }
      Tag.section(.class("card"), .labelledBy("facts")) {
        Tag.h2(.id("facts")) { "What is known" }
        Tag.p {
          PageParts.untrusted(
            IdentityText.paragraph(
              record, customerUsers: detail.customerUsers, awaited: detail.awaitedContexts,
              processor: processor))
        }
        Tag.dl {
          for fact in ReceiptFacts.all(detail, now: now) {
            PageParts.fact(fact.name, value(fact))
            if fact.name == "price" { bought }
            if mayChange, fact.name == "context", let context = record.purchase.context {
              for fact in ContextText.facts(context) {
                PageParts.fact(fact.name, PageParts.untrusted(fact.value))
              }
            }
          }
        }
      }
      Tag.section(.class("card"), .labelledBy("story")) {
        Tag.h2(.id("story")) { "What happened" }
        Tag.ol(.class("timeline")) {
          for entry in story.entries { Tag.li(.class("\(tone(entry.tone))")) { step(entry) } }
        }
      }
      if let body = receipt.body {
        Tag.section(.class("card"), .labelledBy("sent")) {
          Tag.h2(.id("sent")) { "What is sent" }
          RawBody.html(mayChange ? body : nil, name: "What is sent")
        }
      }
      NearMissSection.html(detail)
    }
  }

  private var record: PurchaseRecord { detail.record }

  /// What the processor's events say of the payment.
  @HTMLBuilder private var bought: HTML {
    if record.purchase.payment?.amount == nil, let summary {
      if let money = summary.money {
        PageParts.fact("amount", HTML(text: "\(money)"))
      } else if summary.isFree || summary.isTrial {
        PageParts.fact("amount", HTML(text: summary.isTrial ? "a trial, nothing paid yet" : "free"))
      }
    }
    if let isLive = summary?.isLive {
      PageParts.fact("mode", HTML(text: isLive ? "live" : "test, no money was paid"))
    }
  }

  private func value(_ fact: ReceiptFact) -> HTML {
    if fact.name == "app" {
      return Tag.a(.href(Link("apps", fact.value))) { PageParts.untrusted(fact.value) }
    }
    if fact.name == "state", receipt.state == .failed, let reason = receipt.reason {
      let query: [(name: String, value: String?)] = [
        ("app", record.app.text), ("state", receipt.state.rawValue), ("reason", reason.text),
      ]
      return HTML {
        PageParts.untrusted(fact.value)
        " "
        Tag.a(.href(Link("receipts", query: query))) { "all with this reason" }
      }
    }
    return fact.id?.html(in: fact.value, portal) ?? PageParts.untrusted(fact.value)
  }

  private var message: String? {
    switch done {
    case "replay": "It is due now and will be sent again, with its whole retry budget."
    case "complete": "It is complete and due now."
    case "correct": "A second receipt corrects it, and is due now."
    case "cancel": "It is cancelled and will not be sent."
    default: nil
    }
  }

  private var advice: String {
    let advice = ReceiptAdvice(
      record, receipt, breaker: breaker, pause: pause, destination: destinationAdvice,
      destinations: destinations, rate: rate, processor: processor, for: .page(button: replayButton),
      now: now)
    return (advice.lines + PaymentText.advice(detail, label: processorLabel)).joined(separator: " ")
  }

  private var mayReplay: Bool {
    guard let processor else { return false }
    return (try? record.purchase.contentToReplay(receipt, to: destinations, processor)) != nil
  }

  /// Whether an operator may supply a user, a price or a context.
  private var mayComplete: Bool {
    processor != nil && receipt.state != .delivered && receipt.state != .pending && !receipt.isReversal
      && !record.purchase.isErased
  }

  /// Whether a second receipt may say something else.
  private var mayCorrect: Bool {
    processor != nil && receipt.state == .delivered && receipt.correctedBy == nil && !receipt.isReversal
      && !record.purchase.isErased
  }

  private let replayButton = "Replay…"

  private func tone(_ tone: Tone) -> Tone { tone == .bad && isKnownFailure ? .ended : tone }

  private var buttons: HTML {
    let isOver = receipt.state == .delivered || receipt.state == .cancelled
    return Tag.p(.class("actions")) {
      if mayReplay {
        Tag.a(.class(isOver ? "button quiet" : "button"), .href(Link("receipts", receipt.id.text, "replay")))
        {
          replayButton
        }
      }
      if mayComplete {
        Tag.a(
          .class(mayReplay ? "button quiet" : "button"), .href(Link("receipts", receipt.id.text, "complete"))
        ) { "Complete…" }
      }
      if mayCorrect {
        Tag.a(.class("button quiet"), .href(Link("receipts", receipt.id.text, "correct"))) { "Correct…" }
      }
      if !isOver {
        Tag.a(.class("button quiet danger"), .href(Link("receipts", receipt.id.text, "cancel"))) {
          "Cancel receipt…"
        }
      }
    }
  }

  /// The last answer to a receipt that failed: for it the page is opened.
  private var whyFailed: ReceiptStory.Entry? {
    receipt.state == .failed ? story.entries.last { !$0.answer.isEmpty } : nil
  }

  private func step(_ entry: ReceiptStory.Entry) -> HTML {
    HTML {
      Tag.time(.datetime(entry.time.rfc3339), .title(entry.time.relative(to: now))) {
        entry.time.rfc3339.replacing("T", with: " ").dropLast(1).description
      }
      Tag.div(.class("step")) {
        Tag.strong { entry.what }
        " "
        entry.id?.html(in: entry.detail, portal) ?? PageParts.untrusted(entry.detail)
        if !entry.answer.isEmpty {
          Tag.details(.open(entry == whyFailed)) {
            Tag.summary { "The destination's answer" }
            RawBody.html(mayChange ? entry.answer : nil, name: "Answer to \(entry.what)")
          }
        }
      }
    }
  }
}

// MARK: - NearMissSection

// The contexts that a purchase did not get, on its receipt's page. Pure; called from any thread.

enum NearMissSection {
  /// Nothing if there is none.
  static func html(_ detail: ReceiptDetail) -> HTML {
    let sentences = JoinText.nearMisses(detail)
    guard !sentences.isEmpty else { return HTML() }
    return Tag.section(.class("card"), .labelledBy("near-misses")) {
      Tag.h2(.id("near-misses")) { "Contexts that may have been meant" }
      // Nobody has to compare them for a receipt that was delivered.
      if detail.record.receipt?.state == .delivered {
        Tag.details {
          Tag.summary { PageParts.counted(Int64(sentences.count), "context") }
          list(detail, sentences)
        }
      } else {
        list(detail, sentences)
      }
    }
  }

  private static func list(_ detail: ReceiptDetail, _ sentences: [String]) -> HTML {
    Tag.ul(.class("rows")) {
      for (miss, sentence) in zip(detail.nearMisses, sentences) {
        Tag.li { NamedID.context(miss.contextID).html(in: "\(sentence).", Portal()) }
      }
    }
  }
}
