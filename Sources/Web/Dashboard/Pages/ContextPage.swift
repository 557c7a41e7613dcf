// One context that an app posted before a web checkout. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Service
internal import Store

struct ContextPage {
  let context: ContextSummary
  let mayReadBody: Bool
  let now: Timestamp

  var page: DashboardPage {
    DashboardPage(title: "Context \(context.id)", place: .contexts) {
      Tag.p(.class("crumb")) { Tag.a(.href(Link("contexts"))) { "Contexts" } }
      Tag.h1(.class("id")) { PageParts.identifier(context.id) }
      Tag.p(.class("lead")) {
        PageParts.badge(context.state.rawValue, context.state.tone)
        " "
        sentence
      }
      Tag.section(.class("card"), .labelledBy("facts")) {
        Tag.h2(.id("facts")) { "What is known" }
        Tag.dl {
          PageParts.fact(
            "app", Tag.a(.href(Link("apps", context.app.text))) { PageParts.untrusted(context.app) })
          PageParts.fact("user", NamedID.user(context.userID).html)
          PageParts.fact(
            "price", context.blob.priceID.map { NamedID.price($0).html } ?? HTML(text: "none named"))
          if mayReadBody {
            for fact in ContextText.facts(context.blob) {
              PageParts.fact(fact.name, PageParts.untrusted(fact.value))
            }
          }
          PageParts.fact(
            "receipt", context.receiptID.map { NamedID.receipt($0).html } ?? HTML(text: "none"))
          PageParts.fact("received", PageParts.exact(context.receivedAt, now: now))
          if context.postedAt > context.receivedAt {
            PageParts.fact("posted again", PageParts.exact(context.postedAt, now: now))
          }
          PageParts.fact("expires", PageParts.exact(context.expiresAt, now: now))
        }
      }
      Tag.section(.class("card"), .labelledBy("blob")) {
        Tag.h2(.id("blob")) { "Content" }
        // Base64, usually of JSON; anything else is shown as it came.
        RawBody.html(
          mayReadBody
            ? Base64.decode(context.blob.text.utf8.span, .lenient) ?? Array(context.blob.text.utf8) : nil,
          name: "Content")
      }
    }
  }

  private var sentence: String {
    switch context.state {
    case .open: "No purchase has it yet."
    case .paid: "A purchase has it; its receipt is not delivered yet."
    case .delivered: "Its receipt was delivered."
    case .failed: "Its receipt failed."
    case .cancelled: "Its receipt was cancelled."
    case .expired: "No purchase had it in time."
    }
  }
}

extension Dashboard {
  func context(_ id: ContextID) throws(Refusal) -> DashboardPage {
    let now = now
    let context = try read { source throws(StoreFault) in try source.reader.context(id: id, now: now) }
    guard let context else { throw .problem(.unknownContext) }
    return ContextPage(context: context, mayReadBody: mayChange, now: now).page
  }
}

extension Problem {
  static let unknownContext = Problem(
    slug: "unknown-context", title: "No such context", status: 404,
    detail: "There is no context with this id, or it was deleted.")
}
