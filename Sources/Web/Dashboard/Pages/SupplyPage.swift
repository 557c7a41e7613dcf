// The form with what a receipt says: an operator supplies what it lacks, or corrects what was delivered. The
// next page shows what would be sent. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Service
internal import Store

/// What an operator's values are for.
enum Supply: String, Sendable, CaseIterable {
  /// A receipt that was not delivered.
  case complete
  /// A second receipt for the purchase of a delivered one.
  case correct

  var title: String { self == .complete ? "Complete this receipt" : "Correct this receipt" }
  var question: String {
    self == .complete ? "Send it with these values?" : "Send a second receipt for this purchase?"
  }
  var button: String { self == .complete ? "Complete and send" : "Send the second receipt" }
}

struct SupplyPage {
  /// The contexts that it offers.
  static let contextsMax = 10

  /// What the form had, without the values that are known.
  struct Typed {
    var user: UserID?
    var price: PriceID?
    var context: ContextID?
    /// Whether a user or a price replaces a known one.
    var replaces = false
  }

  /// What is wrong with the submitted form.
  struct Complaint {
    /// The field's name; nil if it concerns all of them.
    var field: String?
    let text: String
  }

  let supply: Supply
  let record: PurchaseRecord
  let id: ReceiptID
  /// The open contexts of its user, newest first.
  let contexts: [ContextSummary]
  var typed = Typed()
  var complaint: Complaint?
  let token: String
  let now: Timestamp

  var user: UserID? { record.purchase.userID }
  /// Nil if there is none, or one of several.
  var price: PriceID? {
    record.receipt?.priceID ?? (record.purchase.prices.count == 1 ? record.purchase.prices.first : nil)
  }

  var page: DashboardPage {
    DashboardPage(
      status: complaint == nil ? 200 : 400, title: supply.title, place: .receipts, updates: .still
    ) {
      Tag.h1 { supply.title }
      if let complaint {
        PageParts.notice("bad") { Tag.p(.id("complaint")) { PageParts.untrusted(complaint.text) } }
      }
      Tag.p(.class("lead")) {
        NamedID.receipt(id).html
        " of "
        PageParts.untrusted(record.app)
        " \(state) The next page shows what would be sent."
      }
      Tag.form(
        .class("card confirm"), .action(Link("receipts", id.text, supply.rawValue)), .method("post")
      ) {
        VoidTag.input(.type("hidden"), .name(Dashboard.tokenField), .value(token))
        field("user", "User", typed.user?.text ?? user?.text, help: user == nil ? "Not known." : "")
        field("price", "Price", typed.price?.text ?? price?.text, help: priceHelp)
        choices
        Tag.div(.class("actions")) {
          Tag.button(.type("submit")) { "Preview" }
          Tag.a(.class("button quiet"), .href(Link("receipts", id.text))) { "Go back" }
        }
      }
    }
  }

  private var state: String {
    let reason = record.receipt?.reason.map { ": \($0.meaning)" } ?? ""
    return supply == .correct
      ? "was delivered with these values. Say what is right."
      : "is \(record.receipt?.state.rawValue ?? "not made yet")\(reason). Supply what it lacks."
  }

  private var priceHelp: String {
    let known = record.purchase.prices.map(\.text)
    if known.isEmpty { return "Not known." }
    return price == nil
      ? "Known: \(known.joined(separator: ", ")). Leave it empty to keep them." : ""
  }

  private func field(_ name: String, _ label: String, _ value: String?, help: String) -> HTML {
    let isWrong = complaint?.field == name
    let notes = (help.isEmpty ? [] : ["\(name)-help"]) + (isWrong ? ["complaint"] : [])
    return Tag.div(.class("field")) {
      Tag.label(.for(name)) { label }
      VoidTag.input(
        [
          .id(name), .name(name), .type("text"), .value(value ?? ""),
          .maxLength(UntrustedText.identifierBytesMax), Attribute("autocomplete", "off"),
          Attribute("autocapitalize", "none"), Attribute("spellcheck", "false"),
        ] + (isWrong ? [Attribute("aria-invalid", "true")] : [])
          + (notes.isEmpty ? [] : [Attribute("aria-describedby", notes.joined(separator: " "))]))
      if !help.isEmpty { Tag.p(.id("\(name)-help"), .class("help")) { PageParts.untrusted(help) } }
    }
  }

  private var choices: HTML {
    let purchase = record.purchase
    let rule = "the one that the rule of the join chooses, if there is one"
    let kept = "The present one\(purchase.contextID.map { ", \($0)" } ?? ""); of another user, \(rule)"
    return Tag.fieldset(.class("choices")) {
      Tag.legend { "Context" }
      choice(nil, PageParts.untrusted(purchase.context == nil ? rule.capitalizedFirst : kept))
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

  /// Takes what was typed; a known value that was left in its field is not supplied.
  mutating func type(_ form: AdminForm) {
    for name in ["user", "price", "context"] {
      guard let text = form[name], UntrustedText.identifier(text) == nil else { continue }
      complaint = Complaint(
        field: name,
        text: "The \(name) must be 1 to \(UntrustedText.identifierBytesMax) bytes without control characters."
      )
      return
    }
    typed.user = form["user"].map { UserID(UntrustedText.trimmed($0)) }.flatMap { $0 == user ? nil : $0 }
    typed.price = form["price"].map(PriceID.init).flatMap { $0 == price ? nil : $0 }
    typed.context = form["context"].map(ContextID.init)
    typed.replaces =
      typed.user != nil && user != nil || typed.price.map { _ in !record.purchase.prices.isEmpty } ?? false
  }

  /// Why the receipt cannot be sent with what was typed.
  static func complaint(_ outcome: OperatorResult) -> Complaint {
    switch outcome {
    case .lacks(.user), .lacks(.price):
      let name = outcome == .lacks(.user) ? "user" : "price"
      return Complaint(field: name, text: "It still lacks its \(name). Supply that, too.")
    case .lacks(let reason) where reason != .subscription:
      return Complaint(text: "It still lacks its \(reason.text). Supply that, too.")
    case .unchanged: return Complaint(text: "Nothing is different: say what is right.")
    case .contextNotUsable: return Complaint(field: "context", text: Problem.refused(outcome).detail)
    default: return Complaint(text: Problem.refused(outcome).detail)
    }
  }
}
