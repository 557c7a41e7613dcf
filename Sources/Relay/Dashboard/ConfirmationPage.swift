// Asks before anything is changed: what will happen, and the form that lets it. Pure; any thread.

internal import HTML

/// A question with one answer; the other is to go back.
struct ConfirmationPage {
  static let wordsCharactersMax = 1000

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
        Tag.div(.class("field")) {
          Tag.label(.for("why")) { needsReason ? "Why" : "Why (optional)" }
          VoidTag.input(
            .id("why"), .name("why"), .type("text"), .maxLength(Self.wordsCharactersMax),
            .required(needsReason), Attribute("aria-describedby", "why-help"),
            Attribute("autocomplete", "off"))
          Tag.p(.id("why-help"), .class("help")) { "A few words for whoever asks later; kept in the audit." }
        }
        Tag.div(.class("actions")) {
          Tag.button(.type("submit")) { button }
          Tag.a(.class("button quiet"), .href(back)) { "Go back" }
        }
      }
    }
  }
}
