// The table of a list, as its resource declares it. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports

extension Resource {
  /// - Parameters:
  ///   - omitted: the names of the fields that the page says elsewhere, or that say nothing.
  ///   - isKnown: whether somebody takes care of the row's failure.
  func html(
    _ rows: [Row], caption: String = "Newest first", without omitted: Set<String> = [],
    isKnown: (Row) -> Bool = { _ in false }, now: Timestamp
  ) -> HTML {
    let fields = page.filter { !omitted.contains($0.name) }
    var table = DataTable(
      caption,
      fields.map {
        DataTable.Column(
          $0.title, isNumber: $0.layout.contains(.number), isLong: $0.layout.contains(.wraps))
      })
    // Its own namespace: `find` is also the class of the search box.
    table.name = "list-\(path)"
    table.rows = rows.map { row in
      let isKnown = isKnown(row)
      return fields.map { field in
        field.cell(row)?.html(isKnown: isKnown, now: now) ?? Tag.span(.class("none")) { field.missing }
      }
    }
    return table.html
  }
}

extension ListCell {
  fileprivate func html(isKnown: Bool, now: Timestamp) -> HTML {
    switch self {
    case .text(let text, _): PageParts.untrusted(text)
    case .state(let state, let tone, let reason):
      PageParts.badge(state, isKnown && tone == .bad ? .ended : tone, reason)
    case .id(.user(let id)): Tag.a(.href(NamedID.user(id).link)) { PageParts.untrusted(id) }
    case .id(let id): Tag.a(.class("id"), .href(id.link)) { PageParts.short(id.text) }
    case .identifier(let id): PageParts.identifier(id)
    case .app(let app): Tag.a(.href(Link("apps", app.text))) { PageParts.untrusted(app) }
    case .count(let count): HTML(text: PageParts.number(count))
    case .time(let time): PageParts.time(time, now: now)
    case .moment(let time): PageParts.exact(time, now: now)
    case .duration(let time): HTML(text: LatencyText.time(time))
    }
  }
}
