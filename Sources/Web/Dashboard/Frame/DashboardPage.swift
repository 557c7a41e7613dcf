// The frame of every dashboard page: navigation, a skip link, the numbers that stay current, and security
// headers. Pure; called from any thread.

internal import Domain
internal import Formats
public import HTTPServer
public import Service

/// One page of the dashboard.
public struct DashboardPage {
  /// The pages in the navigation.
  enum Place: String, CaseIterable {
    case overview = "Overview"
    case failed = "Failures"
    case alerts = "Alerts"
    case receipts = "Receipts"
    case attempts = "Attempts"
    case events = "Events"
    case contexts = "Contexts"
    case claims = "Claims"
    case jobs = "Jobs"
    case audit = "Audit"
    case settings = "Settings"

    var group: PageNavigation.Group {
      switch self {
      case .overview, .failed, .alerts: .now
      case .receipts, .attempts, .events, .contexts, .claims: .find
      case .jobs, .audit: .work
      case .settings: .setup
      }
    }

    var link: Link {
      switch self {
      case .overview: Link()
      case .failed: Link("failed")
      case .alerts: Link("alerts")
      case .receipts: Link("receipts")
      case .attempts: Link("attempts")
      case .events: Link("events")
      case .contexts: Link("contexts")
      case .claims: Link("claims")
      case .jobs: Link("jobs")
      case .audit: Link("audit")
      case .settings: Link("settings")
      }
    }
  }

  /// Whether numbers of the page may change while it is read.
  enum Updates {
    case live
    /// For a page with a form that somebody fills in, and for errors.
    case still
  }

  var status = 200
  var title: String
  var place: Place?
  var updates = Updates.live
  /// The text in the search box.
  var search = ""
  var content: HTML

  init(
    status: Int = 200, title: String, place: Place? = nil, updates: Updates = .live,
    @HTMLBuilder content: () -> HTML
  ) {
    self.status = status
    self.title = title
    self.place = place
    self.updates = updates
    self.content = content()
  }

  /// An error page.
  init(_ problem: Problem) {
    self.init(status: problem.status, title: problem.title, updates: .still) {
      Tag.h1 { problem.title }
      // That of a path is for those who call the API.
      Tag.p { problem == .notFound ? "There is no such page." : problem.detail }
      if problem.status == 404 {
        Tag.p { "The box at the top finds receipts, events, contexts, jobs and users by any of their ids." }
      }
      Tag.p { Tag.a(.href(Link())) { "Back to the overview" } }
    }
  }

  /// The answer to a form, whose page has no URL.
  var response: Response { response(nil) }

  /// - Parameter live: the browser's choice; nil for a page without a URL, whose numbers do not change.
  func response(_ live: LiveSwitch?) -> Response {
    let document = HTMLDocument(
      title: "\(title) · Receipt Relay", style: .linked(DashboardFile.stylesheet.link("style.css")),
      icon: Link("icon.svg"), body: body(updates == .live ? live : nil))
    var response = Response(status: status, type: HTMLDocument.mediaType, body: document.bytes)
    response.headers += HTMLDocument.protectingHeaders
    return response
  }

  private func body(_ live: LiveSwitch?) -> HTML {
    Tag.div(.class("page")) {
      Tag.a(.class("skip"), .href(Link.fragment("content"))) { "Skip to the content" }
      Tag.header(.class("top")) {
        Tag.a(.class("brand"), .href(Link())) {
          Tag.span(.class("mark"), .hiddenFromReaders())
          "Receipt Relay"
        }
        PageNavigation(place: place).menu
        if let live { strip(live) }
        FindBox(text: search).html
      }
      PageNavigation(place: place).rail
      Tag.main(.id("content"), .tabindex(-1)) { content }
      Tag.footer { Tag.p { "receiptd \(Version.number). Times are UTC." } }
    }
  }

  /// The state of the relay in one line.
  private func strip(_ live: LiveSwitch) -> HTML {
    Tag.div(.class("strip")) {
      if live.isOn {
        Frame(
          Link("live", "state"), title: "State of the relay, renewed every \(Dashboard.liveSeconds) seconds"
        ).html
      } else {
        Tag.p { "Numbers are those of the time when the page was opened." }
      }
      if let other = live.other {
        Tag.a(.href(other)) { live.isOn ? "Stop updating" : "Update again" }
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
