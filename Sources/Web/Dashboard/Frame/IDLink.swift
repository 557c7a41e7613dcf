// Ids on pages: each leads to what it names, and one click or tap on it selects it whole, to be copied. Pure;
// called from any thread.

internal import Domain
internal import Formats
internal import Reports

extension NamedID {
  /// Where a page says more about it.
  var link: Link {
    switch self {
    case .receipt(let id): Link("receipts", id.text)
    case .context(let id): Link("contexts", id.text)
    case .event(let id): Link("event", query: [("id", id.text)])
    case .job(let id): Link("jobs", id.text)
    case .user(let id): Link("user", query: [("id", id.text)])
    case .customer(let id): Link("receipts", query: [("customer", id.text)])
    case .session(let id): Link("receipts", query: [("session", id.text)])
    case .object(let id): Link("receipts", query: [("object", id.text)])
    case .price(let id): Link("receipts", query: [("price", id.text)])
    case .importID(let id): Link("receipts", query: [("import_id", id)])
    }
  }

  /// The id as a link.
  var html: HTML { Tag.a(.class("id"), .href(link)) { PageParts.identifier(text) } }

  /// The id as a link, and one to the dashboard of its processor.
  func html(_ portal: Portal) -> HTML {
    HTML {
      html
      portal.link(to: text)
    }
  }

  /// A text with the id in it as a link.
  func html(in sentence: String, _ portal: Portal) -> HTML {
    guard let place = sentence.firstRange(of: text) else { return PageParts.untrusted(sentence) }
    return HTML {
      PageParts.untrusted(String(sentence[..<place.lowerBound]))
      html(portal)
      PageParts.untrusted(String(sentence[place.upperBound...]))
    }
  }
}

/// The dashboard of the processor of one purchase or event.
struct Portal {
  /// The processor's display name.
  var label: String?
  /// The URL of the page about an id; nil if there is none.
  var page: (String) -> String? = { _ in nil }

  /// Nothing unless the processor has a page about the id.
  func link(to id: String) -> HTML {
    guard let label, let text = page(id), let link = Link(https: text) else { return HTML() }
    return HTML {
      " "
      Tag.a(
        .class("portal"), .href(link), Attribute("rel", "noreferrer"), .label("\(id) at \(label)")
      ) { "\(label) ↗" }
    }
  }
}
