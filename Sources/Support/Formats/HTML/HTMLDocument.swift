// A whole page, with the markup that all pages share. Pure; thread-safe.

/// One page.
public struct HTMLDocument: Sendable {
  /// The stylesheet of the page.
  public enum Style: Sendable {
    /// A stylesheet of this server.
    case linked(Link)
    /// A stylesheet in the page itself: a literal of this program, never untrusted input.
    /// - accent: the page's own colours.
    case inline(StaticString, accent: PageAccent? = nil)
  }

  /// An automatic reload or redirect of the browser.
  public struct Refresh: Sendable {
    public var seconds: Int
    /// Nil reloads the same page.
    public var link: Link?

    public init(seconds: Int, link: Link? = nil) {
      self.seconds = seconds
      self.link = link
    }
  }

  /// The language of the page's own text (BCP 47).
  public var language: String
  public var title: String
  public var style: Style
  /// A script in the page itself; a literal of this program.
  public var script: StaticString?
  public var icon: Link?
  public var refresh: Refresh?
  public var body: HTML

  public init(
    language: String = "en", title: String, style: Style, script: StaticString? = nil, icon: Link? = nil,
    refresh: Refresh? = nil, body: HTML
  ) {
    self.language = language
    self.title = title
    self.style = style
    self.script = script
    self.icon = icon
    self.refresh = refresh
    self.body = body
  }

  /// The media type of `bytes`.
  public static let mediaType = "text/html; charset=utf-8"

  public var bytes: [UInt8] {
    let head = """
      <!DOCTYPE html>
      <html lang="\(HTML.escaped(language))"\(Self.isRightToLeft(language) ? " dir=\"rtl\"" : "")>
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="robots" content="noindex, nofollow">
      \(refreshMarkup)<title>\(HTML.escaped(title))</title>
      \(styleMarkup)\(iconMarkup)
      </head>
      """
    let script = script.map { "<script>\($0)</script>\n" } ?? ""
    return Array("\(head)\n<body>\n\(body.markup)\n\(script)</body>\n</html>\n".utf8)
  }

  private var refreshMarkup: String {
    guard let refresh else { return "" }
    let address = refresh.link.map { "; url=\(HTML.escaped($0.text))" } ?? ""
    return "<meta http-equiv=\"refresh\" content=\"\(refresh.seconds)\(address)\">\n"
  }

  /// A page with an inline style has an empty icon, because browsers otherwise request one from the server.
  private var iconMarkup: String {
    if let icon { return "\n<link rel=\"icon\" href=\"\(HTML.escaped(icon.text))\">" }
    if case .inline = style { return "\n<link rel=\"icon\" href=\"data:,\">" }
    return ""
  }

  private var styleMarkup: String {
    switch style {
    case .linked(let link): "<link rel=\"stylesheet\" href=\"\(HTML.escaped(link.text))\">"
    case .inline(let sheet, let accent):
      "<style>\(sheet)</style>" + (accent.map { "<style>\($0.stylesheet)</style>" } ?? "")
    }
  }

  /// Whether a language is written from right to left.
  public static func isRightToLeft(_ language: String) -> Bool {
    ["ar", "he"].contains(language.prefix { $0 != "-" })
  }
}

extension HTMLDocument {
  /// Restricts the browser to what the dashboard needs: a stylesheet and frames from this server, and forms
  /// to this server. No other page may show it in a frame.
  ///
  /// `same-origin` and not `no-referrer`: with the latter, browsers send `Origin: null` with forms
  /// (https://fetch.spec.whatwg.org/#append-a-request-origin-header), so the origin of a form could not be
  /// checked.
  public static let protectingHeaders: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; style-src 'self'; img-src 'self'; frame-src 'self'; form-action 'self'; "
        + "base-uri 'none'; frame-ancestors 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-store"),
  ]

  /// The same for a document in a frame of this server: only its pages may show it, and it has no form.
  public static let frameHeaders: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; style-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
    ),
    ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "SAMEORIGIN"),
    ("Referrer-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
  ]

  /// The same for a public page. It sends no referrer, and contains only stylesheets and a script with these
  /// hashes (CSP Level 3, §2.3.1 hash-source), pictures of this server and an empty icon. Its script may read
  /// from this server only.
  /// - Parameters:
  ///   - styleHashes: the SHA-256 of each inline stylesheet, in base64.
  ///   - scriptHash: the same of the script; nil forbids scripts and what they could load.
  public static func publicHeaders(
    styleHashes: [String], scriptHash: String?, hasForm: Bool = false
  ) -> [(name: String, value: String)] {
    let styles = styleHashes.map { "'sha256-\($0)'" }.joined(separator: " ")
    let script = scriptHash.map { "script-src 'sha256-\($0)'; connect-src 'self'; " } ?? ""
    return [
      (
        "Content-Security-Policy",
        "default-src 'none'; style-src \(styles); \(script)img-src 'self' data:; "
          + "form-action \(hasForm ? "'self'" : "'none'"); base-uri 'none'; frame-ancestors 'none'"
      ),
      ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
      ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store"),
    ]
  }
}
