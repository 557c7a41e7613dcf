// Numbers on a page that stay current: a frame whose document reloads, with no script. The page itself never
// reloads, so the focus, the scroll position and half-typed texts stay. A frame has no links and no controls,
// because a reload would take the focus away from them. Pure; called from any thread.

internal import Formats
internal import HTTPServer

/// Numbers that a frame keeps current.
struct LiveBlock {
  /// What it shows, for screen readers.
  let title: String
  /// Its class, which sets its height.
  let name: String
  /// The frame's document.
  let source: Link
  /// What is shown without the frame: on paper, and when the reader has stopped the updates.
  let content: HTML

  func html(isLive: Bool) -> HTML {
    guard isLive else { return Tag.div(.class("live-block")) { content } }
    return Tag.div(.class("live-block live-\(name)")) {
      Frame(source, title: title).html
      Tag.div(.class("on-paper"), .hiddenFromReaders()) { content }
    }
  }
}

/// The document of a frame.
struct LiveDocument {
  static let title = "Numbers that stay current"

  /// Seconds until it reloads; nil for one that does not change any more.
  let seconds: Int?
  let content: HTML

  /// - Parameter status: 503 if the numbers could not be read.
  func response(status: Int = 200) -> Response {
    let document = HTMLDocument(
      title: Self.title, style: .linked(DashboardFile.stylesheet.link("style.css")),
      refresh: seconds.map { .init(seconds: $0) }, body: Tag.div(.class("live")) { content })
    var response = Response(status: status, type: HTMLDocument.mediaType, body: document.bytes)
    response.headers += HTMLDocument.frameHeaders
    return response
  }
}
