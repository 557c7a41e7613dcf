// Asks before anything is changed: what will happen, and the form that lets it. Pure; any thread.

internal import HTML

/// A question with one answer; the other is to go back.
struct ConfirmationPage {
  static let wordsCharactersMax = 1000
  /// Receipts a second, as the form proposes.
  static let rateDefault = "5"

  let title: String
  let place: DashboardPage.Place
  /// What will happen.
  let text: [String]
  let button: String
  /// Whether the person must say why.
  let needsReason: Bool
  /// Where the form goes.
  let target: Link
  /// Fields that come along, with the token among them.
  let hidden: [(name: String, value: String)]
  /// How many receipts a second are proposed; nil where the form does not ask.
  var rate: String?
  let back: Link
  /// What was wrong with the form that came.
  var complaint: String?

  var page: DashboardPage {
    DashboardPage(status: complaint == nil ? 200 : 400, title: title, place: place) {
      Tag.h1 { title }
      if let complaint { PageParts.notice("bad") { Tag.p { complaint } } }
      for line in text { Tag.p(.class("lead")) { PageParts.outside(line) } }
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
