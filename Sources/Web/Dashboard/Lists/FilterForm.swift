// The form that filters a list, made from the fields that receiptctl has as options, too. Pure; called from
// any thread.

internal import Domain
internal import Formats
internal import Reports

struct FilterForm<Filter: ListFilter> {
  let search: ListSearch<Filter>
  /// Configured apps, and those with receipts.
  var apps: [AppSlug] = []
  /// Configured processors, and those with receipts.
  var processors: [ProcessorName] = []

  /// Whether it has a choice of apps.
  static var hasApps: Bool { Filter.fields.contains { $0.kind == .app } }

  var html: HTML {
    let shown = Filter.fields.filter { $0.original == nil && ($0.name != "processor" || showsProcessor) }
    let rare = Filter.rareFields
    let (common, more) = (shown.filter { !rare.contains($0.name) }, shown.filter { rare.contains($0.name) })
    return Tag.form(.action(Link(search.path)), .method("get"), .role("search")) {
      Tag.div(.class("filters")) {
        for field in common { control(field) }
        if more.isEmpty { actions }
      }
      if !more.isEmpty {
        Tag.div(.class("filter-end")) {
          Tag.details(.open(more.contains { search[$0.name] != nil })) {
            Tag.summary { "More filters" }
            Tag.div(.class("filters")) { for field in more { control(field) } }
          }
          actions
        }
      }
      if shown.contains(where: { $0.kind == .moment }) {
        Tag.datalist(.id("times")) {
          for (value, text) in Self.times { Tag.option(.value(value)) { text } }
        }
      }
    }
  }

  /// With a single processor, neither filter nor column says anything.
  var showsProcessor: Bool { processors.count > 1 || search["processor"] != nil }

  /// Suggestions for times; a URL may have any form of `MomentText`.
  private static var times: [(String, String)] {
    [
      ("1h", "an hour ago"), ("24h", "a day ago"), ("7d", "a week ago"), ("30d", "30 days ago"),
    ]
  }

  private var actions: HTML {
    Tag.div(.class("actions")) {
      Tag.button(.type("submit")) { "Show" }
      if search.isFiltered { Tag.a(.href(Link(search.path))) { "Clear" } }
    }
  }

  private func control(_ field: FilterField<Filter>) -> HTML {
    switch field.kind {
    case .text: input(field, [])
    case .moment: input(field, [Attribute("list", "times"), Attribute("placeholder", "2026-11-20")])
    case .app: select(field, apps.map(\.text))
    case .processor: select(field, processors.map(\.text))
    case .choice(let words): select(field, words)
    case .flag: select(field, [FilterFlag.given])
    }
  }

  private func input(_ field: FilterField<Filter>, _ more: [Attribute]) -> HTML {
    labelled(field) { id in
      VoidTag.input(
        [
          .id(id), .name(field.queryName), .type("text"), .value(search[field.name] ?? ""), .maxLength(255),
          Attribute("autocomplete", "off"), Attribute("autocapitalize", "none"),
          Attribute("spellcheck", "false"),
        ] + more)
    }
  }

  private func select(_ field: FilterField<Filter>, _ choices: [String]) -> HTML {
    let chosen = search[field.name]
    // A value in the URL stays selected, even if it is not among the choices.
    let unknown = chosen.flatMap { choices.contains($0) ? nil : $0 }
    return labelled(field) { id in
      Tag.select(.id(id), .name(field.queryName)) {
        Tag.option(.value("")) { "any" }
        for value in choices + (unknown.map { [$0] } ?? []) {
          Tag.option(.value(value), .selected(value == chosen)) { value }
        }
      }
    }
  }

  private func labelled(_ field: FilterField<Filter>, _ control: (_ id: String) -> HTML) -> HTML {
    let id = "filter-\(field.name)"
    return Tag.div(.class("field")) {
      Tag.label(.for(id)) { field.label }
      control(id)
    }
  }
}
