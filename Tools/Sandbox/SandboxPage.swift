// The pages on which a user of the stand-ins plays the payer. Pure; any thread.

internal import Formats
internal import HTTPServer

enum SandboxPage {
  /// A page with facts and buttons.
  /// - Parameters:
  ///   - buttons: each posts an empty form to its path.
  ///   - links: where the payer goes on; URLs that are neither https nor valid are shown as text.
  static func response(
    _ title: String, facts: [(name: String, value: String)], buttons: [(label: String, link: Link)],
    links: [(label: String, url: String)]
  ) -> Response {
    let body = Tag.main {
      Tag.h1 { title }
      Tag.p { "This page simulates the payer. No money moves." }
      Tag.dl {
        for fact in facts {
          Tag.dt { fact.name }
          Tag.dd { fact.value }
        }
      }
      for button in buttons {
        Tag.form(.method("post"), .action(button.link)) {
          Tag.button(.type("submit")) { button.label }
        }
      }
      for link in links {
        Tag.p {
          if let https = Link(https: link.url) {
            Tag.a(.href(https)) { link.label }
          } else {
            "\(link.label): \(link.url)"
          }
        }
      }
    }
    let page = HTMLDocument(title: title, style: .inline(style), body: body)
    var response = Response(status: 200, type: HTMLDocument.mediaType, body: page.bytes)
    response.headers.append(("Cache-Control", "no-store"))
    return response
  }

  private static let style: StaticString = """
    body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:2rem auto;padding:0 1rem}
    dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem}dd{margin:0}
    form{display:inline-block;margin:0 .5rem .5rem 0}button{font:inherit;padding:.5rem 1rem}
    """
}
