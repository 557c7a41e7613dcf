// The pages that lead customers back into the app: the outcome, a few sentences, one button. Untrusted input
// appears only as escaped text. A page that waits has one script, which brings it up to date without a
// reload; a browser that does not run it has a link for that. Pure; called from any thread.

internal import Cryptography
internal import Formats
internal import HTTPServer

/// One page for a customer who comes from a checkout.
struct PublicPage {
  struct Action {
    var text: HTML
    var link: Link
  }

  /// The symbol of a page. It adds nothing to the text.
  enum Tone: String {
    case good, waiting, stopped, attention, neutral
  }

  /// How a page that may change is brought up to date.
  struct Updates {
    /// Between two requests.
    var seconds: Int
    /// The note that says so.
    var note: String
    /// The link for browsers that do not run the script.
    var again: String
  }

  /// The picture at the top.
  struct Picture {
    var link: Link
    /// What readers who do not see it read.
    var text: String
  }

  /// Where customers get help.
  struct Help {
    var text: String
    var link: Link
    /// What the reference is, and the reference.
    var reference: (label: String, text: String)?
  }

  /// The language of the text (BCP 47).
  var language: String
  var title: String
  var heading: HTML
  var sentences: [HTML]
  var ways = PageWays()
  /// A redirect at once; nil for none.
  var refresh: HTMLDocument.Refresh?
  var updates: Updates?
  /// The name of the app, as the header.
  var appName: String?
  var logo: Picture?
  var accent: PageAccent?
  var tone = Tone.neutral
  /// Names and values of what was bought.
  var details: [(name: String, value: HTML)] = []
  var help: Help?

  /// - Parameter status: the HTTP status; 200 except for errors.
  func response(status: Int = 200) -> Response {
    let document = HTMLDocument(
      language: language, title: title, style: .inline(PublicStylesheet.text, accent: accent),
      script: updates == nil ? nil : PublicScript.text, refresh: refresh, body: body)
    var response = Response(status: status, type: HTMLDocument.mediaType, body: document.bytes)
    response.headers += HTMLDocument.publicHeaders(
      styleHashes: [Self.sheetHash] + (accent.map { [Self.hash($0.stylesheet)] } ?? []),
      scriptHash: updates == nil ? nil : Self.scriptHash, hasForm: ways.offer != nil)
    response.headers += [("Vary", "Accept-Language, User-Agent"), ("Content-Language", language)]
    return response
  }

  private static let sheetHash = hash("\(PublicStylesheet.text)")
  private static let scriptHash = hash("\(PublicScript.text)")

  private static func hash(_ text: String) -> String { Base64.encode(SHA256.digest(Array(text.utf8))) }

  private var body: HTML {
    HTML {
      if let logo {
        Tag.header { Tag.p { VoidTag.img(logo.link, alt: logo.text) } }
      } else if let appName {
        Tag.header { Tag.p { Tag.bdi { appName } } }
      }
      Tag.main(mainAttributes) {
        Tag.div(.id("state"), .role("status")) { state }
        ways.html
        if let updates {
          // The script hides it once it runs.
          Tag.p(.id("again")) { Tag.a(.class("again"), .href(.samePage)) { updates.again } }
        }
        Tag.div(.id("help")) { helpMarkup }
      }
    }
  }

  private var mainAttributes: [Attribute] {
    guard let updates else { return [] }
    return [.class("busy"), Attribute("data-seconds", String(updates.seconds))]
  }

  private var state: HTML {
    HTML {
      if tone != .neutral { Tag.div(.class("mark \(tone.rawValue)"), .hiddenFromReaders()) }
      Tag.h1 { heading }
      for sentence in sentences { Tag.p { sentence } }
      if !details.isEmpty {
        Tag.dl {
          for detail in details {
            Tag.div {
              Tag.dt { detail.name }
              Tag.dd { detail.value }
            }
          }
        }
      }
      if let updates { Tag.p(.class("note")) { updates.note } }
    }
  }

  private var helpMarkup: HTML {
    HTML {
      if let help {
        Tag.p { Tag.a(.href(help.link)) { help.text } }
        if let reference = help.reference {
          Tag.p {
            "\(reference.label) "
            Tag.code { reference.text }
          }
        }
      }
    }
  }
}

/// The links of a page, and the code that opens the link on a phone.
struct PageWays {
  /// What a page at a computer says.
  struct Phone {
    var code: QRCode
    /// What the code is, for readers who do not see it.
    var label: String
    var heading: HTML
    var text: HTML
    /// A link for the case that the app is here, after all.
    var here: PublicPage.Action?
  }

  /// What the customer may do with a button that changes something.
  struct Offer {
    var text: HTML
    var button: String
    /// Where the form goes, and its field.
    var link: Link
    var field: (name: String, value: String)
  }

  var offer: Offer?
  /// The main action.
  var button: PublicPage.Action?
  /// Shown instead of the button where the customer has a mouse, and in any case if there is no button.
  var phone: Phone?
  /// Other actions, less prominent.
  var others: [PublicPage.Action] = []

  var html: HTML {
    Tag.div(.id("ways"), .class(button != nil && phone != nil ? "either" : "sole")) {
      if let offer {
        Tag.form(.class("offer"), .method("post"), .action(offer.link)) {
          Tag.p { offer.text }
          VoidTag.input(.type("hidden"), .name(offer.field.name), .value(offer.field.value))
          Tag.button(.class("button")) { offer.button }
        }
      }
      if let button {
        Tag.p(.class("here")) { Tag.a(.class("button"), .href(button.link)) { button.text } }
      }
      if let phone {
        Tag.section(.class("phone")) {
          Tag.h2 { phone.heading }
          Tag.p { phone.text }
          Self.drawing(phone.code, label: phone.label)
          if let here = phone.here { Tag.p { Tag.a(.class("again"), .href(here.link)) { here.text } } }
        }
      }
      if !others.isEmpty {
        Tag.ul {
          for other in others { Tag.li { Tag.a(.href(other.link)) { other.text } } }
        }
      }
    }
  }

  /// One line for each run of dark modules: a third of the size of rectangles.
  private static func drawing(_ code: QRCode, label: String) -> HTML {
    var (path, x, y) = ("M0 .5", 0, 0)
    for run in code.runs {
      path += "m\(run.x - x) \(run.y - y)h\(run.length)"
      (x, y) = (run.x + run.length, run.y)
    }
    let zone = QRCode.quietZone
    let width = code.width + 2 * zone
    return Tag.svg(
      .class("qr"), .role("img"), .label(label), Attribute("viewBox", "-\(zone) -\(zone) \(width) \(width)")
    ) { Tag.path(Attribute("d", path)) }
  }
}
