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
