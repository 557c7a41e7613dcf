// Supplies what a receipt lacks: first a form, then what would be sent, and then the change. Pure; called
// from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Service
internal import Store

struct CompletePage {
  /// The contexts that it offers.
  static let contextsMax = 10

  /// What the form had.
  struct Typed {
    var user: UserID?
    var price: PriceID?
    var context: ContextID?
    var replaces = false
  }

  let record: PurchaseRecord
  let id: ReceiptID
  /// The open contexts of its user, newest first.
  let contexts: [ContextSummary]
  var typed = Typed()
  /// What was wrong with the submitted form.
  var complaint: String?
  let token: String
  let now: Timestamp

  var page: DashboardPage {
    DashboardPage(
      status: complaint == nil ? 200 : 400, title: "Complete this receipt", place: .receipts, updates: .still
    ) {
      Tag.h1 { "Complete this receipt" }
      if let complaint { PageParts.notice("bad") { Tag.p { PageParts.untrusted(complaint) } } }
      Tag.p(.class("lead")) {
        NamedID.receipt(id).html
        " of "
        PageParts.untrusted(record.app)
        " is \(record.receipt?.state.rawValue ?? "not made yet")"
        record.receipt?.reason.map { ": \($0.meaning)" } ?? ""
        ". Supply what it lacks; the next page shows what would be sent."
      }
      Tag.form(
        .class("card confirm"), .action(Link("receipts", id.text, "complete")), .method("post")
      ) {
        VoidTag.input(.type("hidden"), .name(Dashboard.tokenField), .value(token))
        field("user", "User", typed.user?.text, known: record.purchase.userID.map(\.text))
        field(
          "price", "Price", typed.price?.text,
          known: record.purchase.prices.isEmpty
            ? nil : record.purchase.prices.map(\.text).joined(separator: ", "))
        choices
        Tag.div(.class("choices")) {
          Tag.label {
            VoidTag.input(
              [.type("checkbox"), .name("replace"), .value("yes")]
                + (typed.replaces ? [Attribute("checked", "checked")] : []))
            "Replace a user or a price that is known"
          }
        }
        Tag.div(.class("actions")) {
          Tag.button(.type("submit")) { "Preview" }
          Tag.a(.class("button quiet"), .href(Link("receipts", id.text))) { "Go back" }
        }
      }
    }
  }

  private func field(_ name: String, _ label: String, _ value: String?, known: String?) -> HTML {
    Tag.div(.class("field")) {
      Tag.label(.for(name)) { label }
      VoidTag.input(
        .id(name), .name(name), .type("text"), .value(value ?? ""),
        .maxLength(UntrustedText.identifierBytesMax), Attribute("autocomplete", "off"),
        Attribute("autocapitalize", "none"), Attribute("spellcheck", "false"),
        Attribute("aria-describedby", "\(name)-help"))
      Tag.p(.id("\(name)-help"), .class("help")) {
        if let known {
          "Known: "
          PageParts.untrusted(known)
          ". Leave it empty to keep that."
        } else {
          "Not known."
        }
      }
    }
  }

  private var choices: HTML {
    Tag.fieldset(.class("choices")) {
      Tag.legend { "Context" }
      choice(nil, HTML(text: "The one that the rule of the join chooses, if there is one"))
      for context in contexts {
        choice(
          context.id,
          HTML {
            PageParts.identifier(context.id)
            context.blob.priceID.map { ", names \($0)" } ?? ", names no price"
            ", posted "
            PageParts.time(context.postedAt, now: now)
          })
      }
    }
  }

  private func choice(_ context: ContextID?, _ text: HTML) -> HTML {
    Tag.label {
      VoidTag.input(
        [.type("radio"), .name("context"), .value(context?.text ?? "")]
          + (context == typed.context ? [Attribute("checked", "checked")] : []))
      Tag.span { text }
    }
  }

  /// Why a receipt cannot be completed with what was typed.
  static func complaint(_ outcome: OperatorResult) -> String {
    switch outcome {
    case .known(let reason):
      "Its \(reason.text) is known. To send another one, tick that it replaces what is known."
    case .lacks(.subscription): Problem.refused(outcome).detail
    case .lacks(let reason): "It still lacks its \(reason.text). Supply that, too."
    default: Problem.refused(outcome).detail
    }
  }
}
