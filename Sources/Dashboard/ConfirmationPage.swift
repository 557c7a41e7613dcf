// Asks for confirmation before a change: says what will happen, and has the form that does it. Pure; called
// from any thread.

internal import HTML

/// A confirmation form.
struct ConfirmationPage {
  static let wordsCharactersMax = 1000
  /// The default rate of the form, in receipts per second.
  static let rateDefault = "5"

  let title: String
  let place: DashboardPage.Place
  /// What will happen.
  let text: [String]
  let button: String
  /// Whether the operator must give a reason.
  let needsReason: Bool
  /// The form's action.
  let target: Link
  /// Hidden fields, including the token.
  let hidden: [(name: String, value: String)]
  /// The proposed rate in receipts per second; nil if the form has no such field.
  var rate: String?
  let back: Link
  /// What was wrong with the submitted form.
  var complaint: String?

  var page: DashboardPage {
    DashboardPage(status: complaint == nil ? 200 : 400, title: title, place: place) {
      Tag.h1 { title }
      if let complaint { PageParts.notice("bad") { Tag.p { complaint } } }
      for line in text { Tag.p(.class("lead")) { PageParts.untrusted(line) } }
      Tag.form(.class("card confirm"), .action(target), .method("post")) {
        for (name, value) in hidden { VoidTag.input(.type("hidden"), .name(name), .value(value)) }
        if let rate {
          Tag.div(.class("field")) {
            Tag.label(.for("rate")) { "Receipts a second" }
            VoidTag.input(
              .id("rate"), .name("rate"), .type("text"), .value(rate), .required(true),
              Attribute("inputmode", "decimal"), Attribute("autocomplete", "off"),
              Attribute("aria-describedby", "rate-help"))
            Tag.p(.id("rate-help"), .class("help")) {
              "How many become due each second. Use a low rate for a destination that has just recovered."
            }
          }
        }
        Tag.div(.class("field")) {
          Tag.label(.for("why")) { needsReason ? "Why" : "Why (optional)" }
          VoidTag.input(
            .id("why"), .name("why"), .type("text"), .maxLength(Self.wordsCharactersMax),
            .required(needsReason), Attribute("aria-describedby", "why-help"),
            Attribute("autocomplete", "off"))
          Tag.p(.id("why-help"), .class("help")) { "Why, in a few words; kept in the audit." }
        }
        Tag.div(.class("actions")) {
          Tag.button(.type("submit")) { button }
          Tag.a(.class("button quiet"), .href(back)) { "Go back" }
        }
      }
    }
  }
}
