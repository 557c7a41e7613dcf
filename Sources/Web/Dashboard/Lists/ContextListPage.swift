// The list of contexts, with filters and pages. Pure; called from any thread.

internal import Domain
internal import Formats
internal import HTTPServer
internal import Reports
internal import Store

struct ContextListPage {
  static let pageSize = 50

  let search: ListSearch<ContextFilter>
  let form: FilterForm<ContextFilter>
  let page: ListPage<ContextSummary, ContextID>
  let now: Timestamp

  var html: DashboardPage {
    DashboardPage(title: "Contexts", place: .contexts) {
      Tag.h1 { "Contexts" }
      form.html
      if page.entries.isEmpty {
        Tag.p(.class("empty")) { search.isFiltered ? "No context matches." : "No app has posted a context." }
      } else {
        ListParts.summary(search, nil, "context", now: now)
        ContextTable(contexts: page.entries, now: now).html
      }
      ListParts.pages(search, page) { $0.text }
    }
  }
}

extension Dashboard {
  func contexts(_ head: RequestHead) throws(Refusal) -> DashboardPage {
    let search: ListSearch<ContextFilter> = try search("contexts", head)
    var filter = search.filter
    if let after = search.after.map(ContextID.init) {
      guard after.isWellFormed else {
        throw .problem(Self.invalid("after", "is the id of the last context on the previous page"))
      }
      filter.after = after
    }
    let (wanted, now, size) = (filter, now, ContextListPage.pageSize)
    let (found, known) = try read { source throws(StoreFault) in
      (
        try source.reader.contexts(wanted, now: now, limit: size + 1),
        Array(try source.reader.countsByProcessor().keys)
      )
    }
    return ContextListPage(
      search: search, form: form(search, known: known), page: ListPage(found, limit: size) { $0.id }, now: now
    ).html
  }
}
