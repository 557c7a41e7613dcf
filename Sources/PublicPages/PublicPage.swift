// The pages for people on their way back into the app: what became of it, a few sentences, one button.
// Everything is in the page, nothing runs, and nothing from outside is shown but as text. Pure; any thread.

internal import Cryptography
internal import FoundationEssentials
internal import HTML
internal import HTTPServer

/// One page for whoever comes from a checkout.
struct PublicPage {
  struct Action {
    var text: String
    var link: Link
  }

  /// What a page is about, at a glance. It says nothing that its words do not say.
  enum Tone: String {
    case good, waiting, attention, neutral
  }

  /// Of its words (BCP 47).
  var language: String
  var title: String
  var heading: String
  var sentences: [String]
  /// The one thing to do.
  var button: Action?
  /// Other ways, less prominent.
  var others: [Action] = []
  var refresh: HTMLDocument.Refresh?
  /// Whose page it is, in the eyes of whoever reads it.
  var appName: String?
  var tone = Tone.neutral
  /// In small letters.
  var note: String?

  /// - Parameter status: 200, or what else is to be said to programs.
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
      styleHash: Data(SHA256.digest(Array("\(PublicStylesheet.text)".utf8))).base64EncodedString())
    + [("Vary", "Accept-Language, User-Agent")]
}
