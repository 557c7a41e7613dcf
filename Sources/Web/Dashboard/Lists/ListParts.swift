// What the pages of lists share: how many entries there are, and the links to more. Pure; called from any
// thread.

internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Store

enum ListParts {
  /// The number of entries, and a link that shows the same ones later.
  /// - Parameter entry: the word for one entry; its plural ends in s.
  static func summary<Filter>(
    _ search: ListSearch<Filter>, _ total: ListTotal?, _ entry: String, now: Timestamp
  ) -> HTML {
    Tag.p(.class("summary list-summary")) {
      if let total {
        Tag.strong { text(total, entry) }
        " "
      }
      Tag.a(.href(search.permanentLink(now: now))) { "Permanent link" }
      " "
      exports(search)
    }
  }

  /// The links to the whole list as a file.
  static func exports<Filter>(_ search: ListSearch<Filter>) -> HTML {
    exports { suffix in search.link(after: nil, suffix: suffix) }
  }

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

  /// - Parameters:
  ///   - entries: the word for entries that a list compares one by one.
  ///   - word: a position, as the URL has it.
  static func pages<Filter, Entry, Position>(
    _ search: ListSearch<Filter>, _ page: ListPage<Entry, Position>, entries: String = "receipts",
    word: (Position) -> String
  ) -> HTML {
    HTML {
      if let compared = page.compared {
        Tag.p(.class("empty")) {
          page.entries.isEmpty ? "None" : "No other"
          " of the newest \(CountText.grouped(compared)) \(entries) that were compared matches."
        }
      }
      if search.after != nil || page.next != nil {
        Tag.nav(.class("pages"), .label("Pages")) {
          if search.after != nil { Tag.a(.href(search.link(after: nil))) { "First page" } }
          if let next = page.next {
            Tag.a(.class("next"), .href(search.link(after: word(next)))) {
              page.compared == nil ? "Next page" : "Look further"
            }
          }
        }
      }
    }
  }
}
