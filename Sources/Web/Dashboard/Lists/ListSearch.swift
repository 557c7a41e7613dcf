// What a list shows, from its URL. Pure; called from any thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports

/// The filter of a list, as its URL has it.
struct ListSearch<Filter: ListFilter> {
  /// With the position.
  let filter: Filter
  /// The position after which the list continues, as the URL has it.
  let after: String?
  /// Whether its URL is the one that others have, too: each field once, in the order of the form, and none of
  /// them empty.
  let isCanonical: Bool
  /// The texts of the fields that are given, in the order of the form.
  let given: [(field: FilterField<Filter>, text: String)]

  /// - Throws: `Fault` with the invalid field.
  init(query: String?, now: Timestamp) throws(Fault) {
    let form = try AdminForm(query)
    after = form["after"]
    do throws(FilterFault) {
      var filter = try Filter(now: now) { form[$0.queryName] }
      if let after { try filter.continue(after: after) }
      self.filter = filter
    } catch {
      let name = error.name
      let field = Filter.fields.first { $0.name == name }
      throw Fault(path: field?.queryName ?? error.name, message: error.message)
    }
    given = Self.given(form)
    let wanted = given.map { ($0.field.queryName, $0.text) } + (after.map { [("after", $0)] } ?? [])
    isCanonical =
      form.fields.count == wanted.count
      && zip(form.fields, wanted).allSatisfy { $0.name == $1.0 && $0.value == $1.1 }
  }

  /// All entries, with the texts of a query that has an invalid field.
  init(rejected form: AdminForm) {
    (filter, after, isCanonical, given) = (Filter(), nil, true, Self.given(form))
  }

  private static func given(_ form: AdminForm) -> [(field: FilterField<Filter>, text: String)] {
    Filter.fields.filter { $0.original == nil }.compactMap { field in
      let names = Filter.fields.filter { $0.name == field.name || $0.original == field.name }
      return names.lazy.compactMap { form[$0.queryName] }.first.map { (field, $0) }
    }
  }

  /// The path of the list.
  var path: String { Filter.resource.path }

  /// The text of a field, by its option's name.
  subscript(name: String) -> String? { given.first { $0.field.name == name }?.text }

  var isFiltered: Bool { !given.isEmpty }

  /// The same search on another page; nil for the first page.
  /// - Parameter suffix: of the path, such as `.csv`.
  func link(after: String?, suffix: String = "") -> Link {
    let query: [(name: String, value: String?)] = given.map { ($0.field.queryName, $0.text) }
    return Link(path + suffix, query: query + [("after", after)])
  }

  /// The same search with another text of one field, nil for none, from its beginning.
  func link(_ name: String, _ value: String?) -> Link {
    let query = Filter.fields.filter { $0.original == nil }.map { field in
      (name: field.queryName, value: field.name == name ? value : self[field.name])
    }
    return Link(path, query: query)
  }

  /// The fields as a URL has them.
  var query: String {
    given.map { "\($0.field.queryName)=\(PercentEncoding.encode($0.text))" }.joined(separator: "&")
  }

  /// Exactly the entries that it shows now, also later: its times do not depend on the present.
  func permanentLink(now: Timestamp) -> Link {
    var query: [(name: String, value: String?)] = []
    var ends = false
    for (field, text) in given {
      guard field.kind == .moment else {
        query.append((field.queryName, text))
        continue
      }
      let time = MomentText.unixMilliseconds(parsing: text, now: now.unixMilliseconds)
      query.append((field.queryName, time.map { Timestamp(unixMilliseconds: $0).rfc3339 }))
      ends = ends || field.name == "until"
    }
    if !ends, Filter.fields.contains(where: { $0.name == "until" }) { query.append(("until", now.rfc3339)) }
    return Link(path, query: query)
  }
}
