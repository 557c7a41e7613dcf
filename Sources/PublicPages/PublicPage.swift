// The pages that lead customers back into the app: the outcome, a few sentences, one button. A page has no
// scripts and loads nothing; untrusted input appears only as escaped text. Pure; called from any thread.

internal import Cryptography
internal import Encoding
internal import HTML
internal import HTTPServer

/// One page for a customer who comes from a checkout.
struct PublicPage {
  struct Action {
    var text: String
    var link: Link
  }

  /// The symbol of a page. It adds nothing to the text.
  enum Tone: String {
    case good, waiting, attention, neutral
  }

  /// The language of the text (BCP 47).
  var language: String
  var title: String
  var heading: String
  var sentences: [String]
  /// The main action.
  var button: Action?
  /// Other actions, less prominent.
  var others: [Action] = []
  var refresh: HTMLDocument.Refresh?
  /// The name of the app, as the header.
  var appName: String?
  var tone = Tone.neutral
  /// A note in small print.
  var note: String?

  /// - Parameter status: the HTTP status; 200 except for errors.
  func response(status: Int = 200) -> Response {
    let document = HTMLDocument(
      language: language, title: title, style: .inline(PublicStylesheet.text), refresh: refresh, body: body)
    var response = Response(status: status, type: HTMLDocument.mediaType, body: document.bytes)
    response.headers += Self.headers + [("Content-Language", language)]
    return response
  }

  private var body: HTML {
    HTML {
      if let appName { Tag.header { Tag.p { Tag.bdi { appName } } } }
      Tag.main {
        Tag.div(.role("status")) {
          if tone != .neutral { Tag.div(.class("mark \(tone.rawValue)"), .hiddenFromReaders()) }
          Tag.h1 { heading }
          for sentence in sentences { Tag.p { sentence } }
          if let note { Tag.p(.class("note")) { note } }
        }
        if let button { Tag.p { Tag.a(.class("button"), .href(button.link)) { button.text } } }
        if !others.isEmpty {
          Tag.ul {
            for other in others { Tag.li { Tag.a(.href(other.link)) { other.text } } }
          }
        }
      }
    }
  }

  private static let headers: [(name: String, value: String)] =
    HTMLDocument.publicHeaders(
      styleHash: Base64.encode(SHA256.digest(Array("\(PublicStylesheet.text)".utf8))))
    + [("Vary", "Accept-Language, User-Agent")]
}
