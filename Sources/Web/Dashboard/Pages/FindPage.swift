// The search box of every page, and the page with its results. Pure; called from any thread.

internal import Config
internal import Domain
internal import Formats
internal import HTTPServer
internal import Platform
internal import Reports
internal import Service
internal import Store

/// The search box. It is posted, so that an e-mail address is in no URL, no history and no access log.
struct FindBox {
  static let field = "q"
  /// The text of the last search.
  var text = ""

  var html: HTML {
    Tag.form(.class("find"), .action(Link("find")), .method("post"), .role("search"), .label("Find")) {
      VoidTag.input(
        .name(Self.field), .type("search"), .value(text), .maxLength(UntrustedText.identifierBytesMax),
        .label("Any id, a part of one, or an e-mail address"),
        Attribute("placeholder", "Id or e-mail address"), .required(true),
        Attribute("autocomplete", "off"), Attribute("autocapitalize", "none"),
        Attribute("spellcheck", "false"))
      Tag.button(.type("submit")) { "Find" }
    }
  }
}

struct FindPage {
  static let findingsMax = 50

  /// Nil if nothing was searched for.
  let query: FindQuery?
  let found: Findings
  let now: Timestamp

  var page: DashboardPage {
    var page = DashboardPage(title: "Find") {
      Tag.h1 { "Find" }
      if let query, !found.list.isEmpty {
        lead(query)
        FoundResource.list.html(
          found.list.map(FoundText.init), caption: PageParts.counted(Int64(found.list.count), "result"),
          now: now)
      } else if let query {
        let why = FoundText.nothing(query, found, isFiltered: false)
        Tag.p(.class("empty")) {
          PageParts.untrusted(query.text)
          ": \(why). Try another id of the purchase, or see the "
          Tag.a(.href(Link("events"))) { "latest events" }
          "."
        }
      } else {
        help
      }
      if let note = FoundText.indexing(found) { PageParts.notice("pending") { Tag.p { "\(note)." } } }
    }
    page.search = query?.text ?? ""
    return page
  }

  /// The page of the only result, if the text is its whole id.
  var onlyLink: Link? {
    found.isPart || found.list.count != 1 ? nil : found.list.first.map { FoundText($0).id.link }
  }

  private var help: HTML {
    HTML {
      Tag.p(.class("lead")) {
        "Type any id into the box above: of a receipt, a context, an event, a purchase, a checkout session, "
        "a customer, a payment, an invoice, a charge, an import or a user; or an e-mail address; or a URL of "
        "a processor's dashboard that ends with an id. Of an id, its first or last \(FindQuery.partMin) "
        "characters are enough, without its prefix."
      }
    }
  }

  private func lead(_ query: FindQuery) -> HTML {
    Tag.p(.class("lead")) {
      found.isPart ? "Nothing has exactly the id " : "What has the id "
      PageParts.identifier(query.text)
      found.isPart ? "; it is a part of these, the newest first." : ", the newest first."
      if found.isCut { " There are more: type more of the id." }
    }
  }
}

extension Dashboard {
  /// The results for a text in the URL, which must not be an address.
  func find(_ form: AdminForm) throws(Refusal) -> DashboardPage {
    guard let typed = form[FindBox.field] else {
      return FindPage(query: nil, found: Findings(), now: now).page
    }
    let query = try query(typed)
    guard !query.isAddress else {
      throw .problem(
        Self.problem(
          Fault(path: FindBox.field, message: "is an address, which must not be in a URL: use the box")))
    }
    return try search(query).page
  }

  /// Answers a search of the box: with the page of the only result, with a URL that can be shared, or for an
  /// address with the results.
  func find(_ form: AdminForm, _ exchange: Exchange) throws(Refusal) {
    guard let typed = form[FindBox.field] else { return redirect(to: Link("find"), exchange) }
    let query = try query(typed)
    let results = try search(query)
    if query.isAddress { return exchange.answer(results.page.response) }
    redirect(to: results.onlyLink ?? Link("find", query: [(FindBox.field, query.text)]), exchange)
  }

  private func query(_ typed: String) throws(Refusal) -> FindQuery {
    guard let query = FindQuery(typed, folders: ProcessorRegistry.standard.idFolders) else {
      let message = "has at most \(UntrustedText.identifierBytesMax) bytes of plain text"
      throw .problem(Self.problem(Fault(path: FindBox.field, message: message)))
    }
    return query
  }

  private func search(_ query: FindQuery) throws(Refusal) -> FindPage {
    let now = now
    let found = try read { source throws(StoreFault) in
      try source.reader.find(
        query, FindFilter(), mentions: ProcessorRegistry.standard.mentions, now: now,
        limit: FindPage.findingsMax)
    }
    return FindPage(query: query, found: found, now: now)
  }

  private func redirect(to link: Link, _ exchange: Exchange) {
    exchange.answer(
      Response(
        status: 303, headers: HTMLDocument.protectingHeaders + [(name: "Location", value: link.text)]))
  }
}
