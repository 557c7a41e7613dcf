// The form that filters a list, made from the fields that receiptctl has as options, too. Pure; called from
// any thread.

internal import Config
internal import Domain
internal import Formats
internal import Reports

struct FilterForm<Filter: ListFilter> {
  let search: ListSearch<Filter>
  /// Configured apps, and those with receipts.
  var apps: [AppSlug] = []
  /// Configured processors, and those with receipts.
  var processors: [ProcessorName] = []
  /// How many receipts have each value of a field, by the field's name.
  var counts: [String: [String: Int64]] = [:]
  /// The field that the page has tabs for.
  var tabbed: String?
  /// What is wrong with one of the fields.
  var fault: Fault?

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
      if shown.contains(where: { $0.name == "since" }) {
        Tag.p(.class("summary")) {
          "Since:"
          for time in ["1h", "24h", "7d", "30d"] {
            " "
            Tag.a(.href(search.link("since", time)), .current(search["since"] == time)) { time }
          }
        }
      }
    }
  }

  /// With a single processor, neither filter nor column says anything.
  var showsProcessor: Bool { processors.count > 1 || search["processor"] != nil }

  private var actions: HTML {
    Tag.div(.class("actions")) {
      Tag.button(.type("submit")) { "Show" }
      if search.isFiltered { Tag.a(.href(Link(search.path))) { "Clear" } }
    }
  }

  private func control(_ field: FilterField<Filter>) -> HTML {
    switch field.kind {
    case _ where field.name == tabbed:
      VoidTag.input(.type("hidden"), .name(field.queryName), .value(search[field.name] ?? ""))
    case .text where counts[field.name] != nil: select(field, (counts[field.name] ?? [:]).keys.sorted())
    case .text: input(field)
    // A URL may have any form of `MomentText`; a control for dates would lose others.
    case .moment where search[field.name].map({ $0.wholeMatch(of: /\d{4}-\d\d-\d\d/) == nil }) ?? false:
      input(field)
    case .moment: input(field, type: "date")
    case .app: select(field, apps.map(\.text))
    case .processor: select(field, processors.map(\.text))
    case .choice(let words): select(field, words)
    case .flag: select(field, [FilterFlag.given])
    }
  }

  private func marks(_ field: FilterField<Filter>) -> [Attribute] {
    field.queryName == fault?.path
      ? [Attribute("aria-invalid", "true"), Attribute("aria-describedby", "complaint")] : []
  }

  private func input(_ field: FilterField<Filter>, type: String = "text") -> HTML {
    labelled(field) { id in
      VoidTag.input(
        [
          .id(id), .name(field.queryName), .type(type), .value(search[field.name] ?? ""), .maxLength(255),
          Attribute("autocomplete", "off"), Attribute("autocapitalize", "none"),
          Attribute("spellcheck", "false"),
        ] + marks(field))
    }
  }

  private func select(_ field: FilterField<Filter>, _ choices: [String]) -> HTML {
    let chosen = search[field.name]
    // A value in the URL stays selected, even if it is not among the choices.
    let unknown = chosen.flatMap { choices.contains($0) ? nil : $0 }
    return labelled(field) { id in
      Tag.select([.id(id), .name(field.queryName)] + marks(field)) {
        Tag.option(.value("")) { "any" }
        for value in choices + (unknown.map { [$0] } ?? []) {
          Tag.option(.value(value), .selected(value == chosen)) {
            value
            counts[field.name].map { " (\(PageParts.number($0[value] ?? 0)))" } ?? ""
          }
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
