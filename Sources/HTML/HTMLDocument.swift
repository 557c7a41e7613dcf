// A whole page: what every page has, in whatever it is about. Pure; any thread.

/// One page.
public struct HTMLDocument: Sendable {
  /// The language of the page's own words (BCP 47).
  public var language: String
  public var title: String
  public var stylesheet: Link
  public var icon: Link?
  /// After how many seconds the browser loads the page anew; nil for never.
  public var refreshSeconds: Int?
  public var body: HTML

  public init(
    language: String = "en", title: String, stylesheet: Link, icon: Link? = nil, refreshSeconds: Int? = nil,
    body: HTML
  ) {
    self.language = language
    self.title = title
    self.stylesheet = stylesheet
    self.icon = icon
    self.refreshSeconds = refreshSeconds
    self.body = body
  }

  /// The media type of `bytes`.
  public static let mediaType = "text/html; charset=utf-8"

  public var bytes: [UInt8] {
    let refresh = refreshSeconds.map { "<meta http-equiv=\"refresh\" content=\"\($0)\">\n" } ?? ""
    let icon = icon.map { "\n<link rel=\"icon\" href=\"\(HTML.escaped($0.text))\">" } ?? ""
    let head = """
      <!DOCTYPE html>
      <html lang="\(HTML.escaped(language))">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="robots" content="noindex, nofollow">
      \(refresh)<title>\(HTML.escaped(title))</title>
      <link rel="stylesheet" href="\(HTML.escaped(stylesheet.text))">\(icon)
      </head>
      """
    return Array("\(head)\n<body>\n\(body.markup)\n</body>\n</html>\n".utf8)
  }

  /// What tells the browser to do nothing that a page of this server does not need: it loads a stylesheet
  /// from here, posts forms to here, and is shown in no frame.
  ///
  /// `same-origin` and not `no-referrer`: with the latter browsers send `Origin: null` with forms
  /// (https://fetch.spec.whatwg.org/#append-a-request-origin-header), and nobody could tell whose form it is.
  public static let protectingHeaders: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
        + "frame-ancestors 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-store"),
  ]
}
