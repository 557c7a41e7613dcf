// The elements of the pages. All contain only text and elements: no scripts and no styles, and of other
// documents only pictures.
// Pure; thread-safe.

/// An element's name. `Tag.p(.class("note")) { "text" }` is the element.
public struct Tag: Sendable {
  let name: StaticString

  private init(_ name: StaticString) { self.name = name }

  /// The element with its attributes and its content.
  public func callAsFunction(_ attributes: Attribute..., @HTMLBuilder content: () -> HTML = { HTML() })
    -> HTML
  {
    callAsFunction(attributes, content: content)
  }

  public func callAsFunction(_ attributes: [Attribute], @HTMLBuilder content: () -> HTML) -> HTML {
    let list = attributes.map(\.markup).joined()
    return HTML(markup: "<\(name)\(list)>\(content().markup)</\(name)>")
  }
}

extension Tag {
  // Parts of a page.
  public static let header = Tag("header")
  public static let nav = Tag("nav")
  public static let main = Tag("main")
  public static let footer = Tag("footer")
  public static let section = Tag("section")
  public static let div = Tag("div")
  public static let h1 = Tag("h1")
  public static let h2 = Tag("h2")
  public static let h3 = Tag("h3")
  // Text.
  public static let p = Tag("p")
  public static let pre = Tag("pre")
  public static let code = Tag("code")
  public static let strong = Tag("strong")
  public static let span = Tag("span")
  public static let time = Tag("time")
  /// Text of unknown direction, isolated from the surrounding text.
  public static let bdi = Tag("bdi")
  public static let a = Tag("a")
  public static let ul = Tag("ul")
  public static let ol = Tag("ol")
  public static let li = Tag("li")
  public static let dl = Tag("dl")
  public static let dt = Tag("dt")
  public static let dd = Tag("dd")
  public static let details = Tag("details")
  public static let summary = Tag("summary")
  // Tables.
  public static let table = Tag("table")
  public static let caption = Tag("caption")
  public static let thead = Tag("thead")
  public static let tbody = Tag("tbody")
  public static let tr = Tag("tr")
  public static let th = Tag("th")
  public static let td = Tag("td")
  // Forms.
  public static let form = Tag("form")
  public static let fieldset = Tag("fieldset")
  public static let legend = Tag("legend")
  public static let label = Tag("label")
  public static let select = Tag("select")
  public static let option = Tag("option")
  public static let button = Tag("button")
  public static let progress = Tag("progress")
  // Drawings.
  public static let svg = Tag("svg")
  public static let title = Tag("title")
  public static let desc = Tag("desc")
  public static let rect = Tag("rect")
  public static let line = Tag("line")
  public static let text = Tag("text")
  public static let path = Tag("path")
}

/// Elements without content.
public enum VoidTag {
  public static func input(_ attributes: Attribute...) -> HTML { input(attributes) }

  public static func input(_ attributes: [Attribute]) -> HTML {
    HTML(markup: "<input\(attributes.map(\.markup).joined())>")
  }

  /// A picture.
  /// - Parameter alt: what readers who do not see it read.
  public static func img(_ source: Link, alt: String) -> HTML {
    HTML(markup: "<img src=\"\(HTML.escaped(source.text))\" alt=\"\(HTML.escaped(alt))\">")
  }
}

// MARK: - Frame

// A document of this server inside a page. Pure; thread-safe.

/// An inline frame. The document in it may reload without any effect on the page around it: the focus, the
/// scroll position, what was typed and the history stay. It must have nothing that takes the focus.
public struct Frame: Sendable {
  let source: Link
  let title: String

  /// - Parameter title: what the frame shows, for screen readers.
  public init(_ source: Link, title: String) {
    self.source = source
    self.title = title
  }

  public var html: HTML {
    HTML(
      markup: "<iframe src=\"\(HTML.escaped(source.text))\" title=\"\(HTML.escaped(title))\" tabindex=\"-1\">"
        + "</iframe>")
  }
}
