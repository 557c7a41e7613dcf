// Every way in which a text could escape its context.

import Formats
import Testing

@Suite("HTML") struct HTMLTests {
  @Test(arguments: [
    ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
    ("\"><img src=x onerror=alert(1)>", "&quot;&gt;&lt;img src=x onerror=alert(1)&gt;"),
    ("' onmouseover='x", "&#39; onmouseover=&#39;x"), ("&lt;", "&amp;lt;"), ("&#x3C;", "&amp;#x3C;"),
    ("-->]]><!--", "--&gt;]]&gt;&lt;!--"), ("plain text, 7 > 5", "plain text, 7 &gt; 5"),
  ])
  func `A text is escaped, in an element and in an attribute`(text: String, escaped: String) {
    #expect(HTML(text: text).markup == escaped)
    #expect(Tag.p { text }.markup == "<p>\(escaped)</p>")
    #expect(Tag.p(.title(text)).markup == "<p title=\"\(escaped)\"></p>")
    #expect(VoidTag.input(.value(text)).markup == "<input value=\"\(escaped)\">")
  }

  @Test func `A combining character after a quotation mark or an angle bracket does not hide it`() {
    #expect(HTML(text: "\"\u{301}").markup == "&quot;\u{301}")
    #expect(HTML(text: "<\u{338}").markup == "&lt;\u{338}")
    #expect(HTML(text: "\r\n<").markup == "\u{FFFD}\n&lt;")
  }

  @Test func `Invisible characters that could disguise a text are replaced`() {
    for scalar in [
      "\u{0}", "\u{1B}", "\u{7F}", "\u{85}", "\u{9F}", "\u{AD}", "\u{200B}", "\u{200E}", "\u{202E}",
      "\u{2028}",
      "\u{2066}", "\u{2069}", "\u{FEFF}", "\u{FFFE}", "\u{E0041}", "\u{1FFFF}",
    ] as [Unicode.Scalar] {
      #expect(HTML(text: "a\(scalar)b").markup == "a\u{FFFD}b", "U+\(String(scalar.value, radix: 16))")
    }
    for text in ["tab\tand\nline", "👩‍💻", "نمونه\u{200C}ها", "é e\u{301} 日本"] {
      #expect(HTML(text: text).markup == text)
    }
  }

  @Test func `Attributes that hold addresses, styles or scripts take no text`() {
    let tag = Tag.a(
      Attribute("href", "javascript:alert(1)"), Attribute("onclick", "x"), Attribute("style", "x"),
      Attribute("formaction", "//e"), .class("c")
    ) { "x" }
    #expect(tag.markup == "<a class=\"c\">x</a>")
    #expect(
      Tag.option(.selected(true), .selected(false), .current(false)).markup == "<option selected></option>")
  }

  @Test(arguments: [
    (Link("receipts", "rcp_1"), "/receipts/rcp_1"), (Link(), "/"),
    (Link("", "evil.example"), "/evil.example"),
    (Link("..", ".", "a"), "/a"), (Link("//evil.example"), "/%2F%2Fevil.example"),
    (Link("javascript:alert(1)"), "/javascript%3Aalert%281%29"), (Link("a/b?c#d"), "/a%2Fb%3Fc%23d"),
    (
      Link("receipts", query: [("user", "a&b=c é"), ("none", nil), ("after", "")], fragment: "x y"),
      "/receipts?user=a%26b%3Dc%20%C3%A9&after=#x%20y"
    ),
  ])
  func `A path link of any text leads to this server`(link: Link, text: String) { #expect(link.text == text) }

  @Test func `A link to another server is https, with a host and without characters that could end it`() {
    #expect(Link(https: "https://example.com/a?b=c#d")?.text == "https://example.com/a?b=c#d")
    for text in [
      "http://example.com", "HTTPS://example.com", "javascript:alert(1)", "https:///x", "https://",
      "//e.example",
      "https://e.example/\"x", "https://e.example/ x", "https://user@e.example", "https://e.example/\u{202E}",
      " https://e.example", "data:text/html,x", "https://" + String(repeating: "a", count: 2000),
    ] {
      #expect(Link(https: text) == nil, "\(text)")
    }
  }

  @Test func `Pieces appear in order, with any control flow`() {
    let shown = HTML {
      for number in 1...2 { Tag.li { "\(number)" } }
      if true { "<" } else { Tag.p { "never" } }
      if Bool(false) { "never" }
      [Tag.strong { "a" }, HTML(text: ">")]
    }
    #expect(shown.markup == "<li>1</li><li>2</li>&lt;<strong>a</strong>&gt;")
  }

  @Test func `A page has its language, title and stylesheet, and loads nothing else`() {
    let page = HTMLDocument(
      title: "</title><script>", style: .linked(Link("style.css")), refresh: .init(seconds: 30),
      body: Tag.main { "é" })
    let text = String(decoding: page.bytes, as: UTF8.self)
    #expect(text.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
    #expect(text.contains("<title>&lt;/title&gt;&lt;script&gt;</title>"))
    #expect(text.contains("<meta http-equiv=\"refresh\" content=\"30\">"))
    #expect(text.contains("name=\"viewport\""))
    // With a blank before the URL, as the standard writes it: old WebViews need it.
    let next = HTMLDocument(
      title: "", style: .linked(Link("style.css")), refresh: .init(seconds: 0, link: Link("next")),
      body: HTML {})
    #expect(String(decoding: next.bytes, as: UTF8.self).contains("content=\"0; url=/next\""))
    #expect(text.contains("<body>\n<main>é</main>\n</body>"))
    #expect(!text.contains("<script"))
    #expect(text.ranges(of: "href=").count == 1)
    let policy = HTMLDocument.protectingHeaders.first { $0.name == "Content-Security-Policy" }?.value ?? ""
    #expect(policy.hasPrefix("default-src 'none';"))
    #expect(!policy.contains("unsafe"))
  }

  @Test("A frame shows a page of this server only, and a target of a request leads to no other server")
  func frames() {
    let frame = Frame(Link("live", query: [("q", "a\"b")]), title: "<numbers>").html.markup
    #expect(
      frame == "<iframe src=\"/live?q=a%22b\" title=\"&lt;numbers&gt;\" tabindex=\"-1\"></iframe>", "\(frame)"
    )
    #expect(Link(target: "/receipts?app=a&live=off")?.text == "/receipts?app=a&live=off")
    #expect(Link(target: "/")?.text == "/")
    for target in [
      "", "receipts", "//evil.example", "/\\evil.example", "/a\"b", "/a b", "https://a.example/",
    ] {
      #expect(Link(target: target) == nil, "\(target)")
    }
  }
}
