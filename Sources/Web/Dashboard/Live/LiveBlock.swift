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

// MARK: - LiveSwitch

// Whether the numbers on the pages of a browser stay current: its choice, kept in a cookie, so that it holds
// on every page (WCAG 2.2, 2.2.2). Pure; called from any thread.

struct LiveSwitch {
  /// The field of a URL that changes the choice.
  static let field = "live"
  private static let cookie = "receipt_relay_live"

  let isOn: Bool
  /// The URL of the same page with the other choice; nil if the page's URL cannot be repeated.
  let other: Link?

  init(_ head: RequestHead) {
    isOn = !head.headers("Cookie").contains { header in
      header.split(separator: ";").contains { $0.drop { $0 == " " } == "\(Self.cookie)=off" }
    }
    let mark = head.query == nil ? "?" : "&"
    other = Link(target: "\(head.originTarget)\(mark)\(Self.field)=\(isOn ? "off" : "on")")
  }

  /// Stores the choice that a URL makes, and leads to the same page without it; nil if the URL makes none.
  static func change(_ head: RequestHead) -> Response? {
    let fields = head.query?.split(separator: "&", omittingEmptySubsequences: false) ?? []
    let choices = fields.filter { $0.hasPrefix("\(field)=") }
    guard let choice = choices.last?.dropFirst(field.utf8.count + 1), choice == "off" || choice == "on" else {
      return nil
    }
    let rest = fields.filter { !$0.hasPrefix("\(field)=") }.joined(separator: "&")
    guard let link = Link(target: rest.isEmpty ? head.path : "\(head.path)?\(rest)") else { return nil }
    var response = Response.redirect(to: link)
    let age = choice == "off" ? 365 * 86_400 : 0
    response.headers.append(
      ("Set-Cookie", "\(cookie)=\(choice); Path=/; Max-Age=\(age); HttpOnly; SameSite=Strict"))
    return response
  }
}
