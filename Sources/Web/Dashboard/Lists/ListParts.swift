// What the pages of lists share: how many entries there are, and the links to more. Pure; called from any
// thread.

internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Store

enum ListParts {
  /// Entries on one page.
  static let pageSize = 50

  /// The number of entries, a link that shows the same ones later, and the exports.
  static func summary<Filter>(_ search: ListSearch<Filter>, _ total: ListTotal?, now: Timestamp) -> HTML {
    let hasTimes = Filter.fields.contains { $0.kind == .moment }
    return Tag.p(.class(hasTimes ? "summary list-summary" : "summary")) {
      if let total {
        Tag.strong { text(total, Filter.resource.one) }
        " "
      }
      if hasTimes {
        Tag.a(.href(search.permanentLink(now: now))) { "Permanent link" }
        " "
      }
      exports { suffix in search.link(after: nil, suffix: suffix) }
    }
  }

  /// The links to the whole list as a file.
  /// - Parameter link: that of the file with a suffix, such as `.csv`.
  static func exports(_ link: (_ suffix: String) -> Link) -> HTML {
    Tag.span {
      "Export:"
      for format in ExportFormat.allCases {
        " "
        Tag.a(.href(link(".\(format.rawValue)"))) { format.rawValue.uppercased() }
      }
    }
  }

  static func text(_ total: ListTotal, _ entry: String) -> String {
    total.isMore
      ? "more than \(CountText.grouped(total.count)) \(entry)s" : CountText.of(total.count, entry)
  }

  static func pages<Filter>(
    _ search: ListSearch<Filter>, _ page: ListPage<Filter.Row, Filter.Position>
  ) -> HTML {
    HTML {
      if let compared = page.compared {
        Tag.p(.class("empty")) {
          page.entries.isEmpty ? "None" : "No other"
          " of the newest \(CountText.grouped(compared)) \(Filter.resource.one)s that were compared matches."
        }
      }
      if search.after != nil || page.next != nil {
        Tag.nav(.class("pages"), .label("Pages")) {
          if search.after != nil { Tag.a(.href(search.link(after: nil))) { "First page" } }
          if let next = page.next {
            Tag.a(.class("next"), .href(search.link(after: next.position))) {
              page.compared == nil ? "Next page" : "Look further"
            }
          }
        }
      }
    }
  }
}
