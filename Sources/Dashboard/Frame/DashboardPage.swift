// The frame of every dashboard page: navigation, a skip link, and security headers. Pure; called from any
// thread.

internal import Domain
internal import HTML
public import HTTPServer
public import HTTPService
internal import Telemetry

/// One page of the dashboard.
public struct DashboardPage {
  /// The pages in the navigation.
  enum Place: String, CaseIterable {
    case overview = "Overview"
    case receipts = "Receipts"
    case events = "Events"
    case failed = "Failed"
    case jobs = "Jobs"
    case audit = "Audit"

    var link: Link {
      switch self {
      case .overview: Link()
      case .receipts: Link("receipts")
      case .events: Link("events")
      case .failed: Link("failed")
      case .jobs: Link("jobs")
      case .audit: Link("audit")
      }
    }
  }

  var status = 200
  var title: String
  var place: Place?
  var refreshSeconds: Int?
  /// The text in the search box.
  var search = ""
  var content: HTML

  init(
    status: Int = 200, title: String, place: Place? = nil, refreshSeconds: Int? = nil,
    @HTMLBuilder content: () -> HTML
  ) {
    self.status = status
    self.title = title
    self.place = place
    self.refreshSeconds = refreshSeconds
    self.content = content()
  }

  /// An error page.
  init(_ problem: Problem) {
    self.init(status: problem.status, title: problem.title) {
      Tag.h1 { problem.title }
      Tag.p { problem.detail }
      Tag.p { Tag.a(.href(Link())) { "Back to the overview" } }
    }
  }

  var response: Response {
    let document = HTMLDocument(
      title: "\(title) · Receipt Relay", style: .linked(Link("style.css")), icon: Link("icon.svg"),
      refresh: refreshSeconds.map { .init(seconds: $0) }, body: body)
    var response = Response(status: status, type: HTMLDocument.mediaType, body: document.bytes)
    response.headers += HTMLDocument.protectingHeaders
    return response
  }

  private var body: HTML {
    HTML {
      Tag.a(.class("skip"), .href(Link.fragment("content"))) { "Skip to the content" }
      Tag.header(.class("top")) {
        Tag.div(.class("bar")) {
          Tag.a(.class("brand"), .href(Link())) {
            Tag.span(.class("mark"), .hiddenFromReaders())
            "Receipt Relay"
          }
          Tag.nav(.label("Main")) {
            Tag.ul {
              for place in Place.allCases {
                Tag.li { Tag.a(.href(place.link), .current(place == self.place)) { place.rawValue } }
              }
            }
          }
          FindBox(text: search).html
        }
      }
      Tag.main(.id("content"), .tabindex(-1)) { content }
      Tag.footer {
        Tag.p {
          "receiptd \(Version.number). Times are UTC."
          if let refreshSeconds { " This page reloads every \(refreshSeconds) seconds." }
        }
      }
    }
  }
}

extension Problem {
  /// The problem as a page, with the problem's own headers.
  public func page(requestID: String) -> Response {
    var response = DashboardPage(self).response
    for (name, value) in headers.sorted(by: { $0.key < $1.key }) { response.headers.append((name, value)) }
    return response
  }
}
