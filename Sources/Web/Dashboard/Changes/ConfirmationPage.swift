// Asks for confirmation before a change: says what will happen, and has the form that does it. Pure; called
// from any thread.

internal import Formats
internal import Reports

/// A confirmation form.
struct ConfirmationPage {
  static let wordsCharactersMax = 1000
  /// The default rate of the form, in receipts per second.
  static let rateDefault = "5"
  static let rateComplaint = "Say how many receipts a second: a number from 0.001 to 10000."

  /// A field for one line of text.
  struct Field {
    let name: String
    let label: String
    /// What it proposes.
    let value: String
    let help: String
    let isRequired: Bool
    /// Whether a phone shows digits first.
    var isNumber = false

    /// How many receipts a job releases.
    static func rate(_ value: String) -> Field {
      Field(
        name: "rate", label: "Receipts a second", value: value,
        help: "How many become due each second. Use a low rate for a destination that has just recovered.",
        isRequired: true, isNumber: true)
    }
  }

  var title: String
  let place: DashboardPage.Place
  /// What will happen.
  var text: [String]
  /// What the text names: its id is a link.
  var subject: NamedID?
  /// What would be sent, as names and values, and what each value replaces.
  var facts: [(name: String, was: String?, value: String)] = []
  var button: String
  /// Whether what it does cannot be undone.
  var isDestructive = false
  /// Whether the operator must give a reason.
  let needsReason: Bool
  /// The form's action.
  let target: Link
  /// Hidden fields, including the token.
  let hidden: [(name: String, value: String)]
  /// What it asks besides the reason.
  var fields: [Field] = []
  let back: Link
  /// What was wrong with the submitted form.
  var complaint: String?

  var page: DashboardPage {
    DashboardPage(status: complaint == nil ? 200 : 400, title: title, place: place, updates: .still) {
      Tag.h1 { title }
      if let complaint { PageParts.notice("bad") { Tag.p(.id("complaint")) { complaint } } }
      for line in text {
        Tag.p(.class("lead")) { subject?.html(in: line, Portal()) ?? PageParts.untrusted(line) }
      }
      if !facts.isEmpty {
        Tag.dl(.class("card confirm")) {
          for fact in facts { PageParts.fact(fact.name, difference(fact.was, fact.value)) }
        }
      }
      Tag.form(.class("card confirm"), .action(target), .method("post")) {
        for (name, value) in hidden { VoidTag.input(.type("hidden"), .name(name), .value(value)) }
        for field in fields { row(field) }
        Tag.div(.class("field")) {
          Tag.label(.for("why")) { needsReason ? "Why" : "Why (optional)" }
          VoidTag.input(
            [
              .id("why"), .name("why"), .type("text"), .maxLength(Self.wordsCharactersMax),
              .required(needsReason), Attribute("autocomplete", "off"),
            ] + marks("why", isWrong: complaint == AdminForm.whyComplaint))
          Tag.p(.id("why-help"), .class("help")) { "In a few words; kept in the audit." }
        }
        Tag.div(.class("actions")) {
          Tag.button([.type("submit")] + (isDestructive ? [.class("danger")] : [])) { button }
          Tag.a(.class("button quiet"), .href(back)) { isDestructive ? "Keep it" : "Go back" }
        }
      }
    }
  }

  /// Joins a control with its help, and with the complaint about it.
  private func marks(_ name: String, isWrong: Bool) -> [Attribute] {
    isWrong
      ? [Attribute("aria-invalid", "true"), Attribute("aria-describedby", "complaint \(name)-help")]
      : [Attribute("aria-describedby", "\(name)-help")]
  }

  private func difference(_ was: String?, _ value: String) -> HTML {
    guard let was else { return PageParts.untrusted(value) }
    return HTML {
      Tag.strong { PageParts.untrusted(value) }
      Tag.span(.class("none")) {
        " instead of "
        PageParts.untrusted(was)
      }
    }
  }

  private func row(_ field: Field) -> HTML {
    Tag.div(.class("field")) {
      Tag.label(.for(field.name)) { field.label }
      VoidTag.input(
        [
          .id(field.name), .name(field.name), .type("text"), .value(field.value),
          .required(field.isRequired), Attribute("inputmode", field.isNumber ? "decimal" : "text"),
          Attribute("autocomplete", "off"),
        ] + marks(field.name, isWrong: complaint.map { $0 != AdminForm.whyComplaint } ?? false))
      Tag.p(.id("\(field.name)-help"), .class("help")) { field.help }
    }
  }
}
