// Attributes. Names are literals of this program, never untrusted input; values are escaped; URLs have their
// own type. Pure; thread-safe.

/// One attribute of an element.
public struct Attribute: Sendable, Equatable {
  /// With a leading space; empty for an omitted attribute.
  let markup: String

  /// - Parameter name: must not hold a URL, a style or a script; such an attribute is omitted.
  public init(_ name: StaticString, _ value: String) {
    let text = "\(name)"
    markup = Self.isHarmless(text) ? " \(text)=\"\(HTML.escaped(value))\"" : ""
  }

  private init(_ name: StaticString, link: Link) { markup = " \(name)=\"\(HTML.escaped(link.text))\"" }

  private init(flag name: StaticString, _ isSet: Bool) { markup = isSet ? " \(name)" : "" }

  private static func isHarmless(_ name: String) -> Bool {
    !["href", "src", "srcset", "srcdoc", "action", "formaction", "style", "data", "xlink:href", "ping"]
      .contains(name) && !name.hasPrefix("on")
  }
}

extension Attribute {
  public static func href(_ link: Link) -> Attribute { Attribute("href", link: link) }
  public static func action(_ link: Link) -> Attribute { Attribute("action", link: link) }

  public static func id(_ text: String) -> Attribute { Attribute("id", text) }
  public static func `class`(_ text: String) -> Attribute { Attribute("class", text) }
  public static func role(_ text: String) -> Attribute { Attribute("role", text) }
  public static func tabindex(_ number: Int) -> Attribute { Attribute("tabindex", String(number)) }
  public static func label(_ text: String) -> Attribute { Attribute("aria-label", text) }
  public static func labelledBy(_ ids: String) -> Attribute { Attribute("aria-labelledby", ids) }
  public static func hiddenFromReaders() -> Attribute { Attribute("aria-hidden", "true") }
  /// The current page or step.
  public static func current(_ isCurrent: Bool) -> Attribute {
    isCurrent ? Attribute("aria-current", "page") : Attribute(flag: "aria-current", false)
  }
  public static func title(_ text: String) -> Attribute { Attribute("title", text) }
  public static func datetime(_ text: String) -> Attribute { Attribute("datetime", text) }
  public static func scope(_ text: String) -> Attribute { Attribute("scope", text) }
  public static func name(_ text: String) -> Attribute { Attribute("name", text) }
  public static func value(_ text: String) -> Attribute { Attribute("value", text) }
  public static func type(_ text: String) -> Attribute { Attribute("type", text) }
  public static func `for`(_ id: String) -> Attribute { Attribute("for", id) }
  public static func method(_ text: String) -> Attribute { Attribute("method", text) }
  public static func selected(_ isSelected: Bool) -> Attribute { Attribute(flag: "selected", isSelected) }
  public static func open(_ isOpen: Bool) -> Attribute { Attribute(flag: "open", isOpen) }
  public static func required(_ isRequired: Bool) -> Attribute { Attribute(flag: "required", isRequired) }
  public static func maxLength(_ count: Int) -> Attribute { Attribute("maxlength", String(count)) }
}
