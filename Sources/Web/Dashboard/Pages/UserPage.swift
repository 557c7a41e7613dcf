// What is stored about one user, in each app. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Service
internal import Store

struct UserPage {
  /// The receipts and the contexts of an app that it shows; links lead to all of them.
  static let shownMax = 20

  /// The newest of one app.
  struct Part {
    let survey: UserSurvey.Part
    let receipts: [PurchaseRecord]
    let contexts: [ContextSummary]
  }

  let user: UserID
  let parts: [Part]
  let now: Timestamp

  var page: DashboardPage {
    DashboardPage(title: "User", place: .receipts) {
      Tag.p(.class("crumb")) { Tag.a(.href(Link("receipts"))) { "Receipts" } }
      Tag.h1(.class("id")) { PageParts.identifier(user) }
      Tag.p(.class("lead")) { "The user, as the apps name the user. Ids of users are compared exactly." }
      for (index, part) in parts.enumerated() { section(part, id: "app-\(index)") }
    }
  }

  @HTMLBuilder private func section(_ part: Part, id: String) -> HTML {
    Tag.h2(.id(id)) {
      Tag.a(.href(Link("apps", part.survey.app.text))) { PageParts.untrusted(part.survey.app) }
    }
    Tag.section(.class("card"), .labelledBy(id)) {
      Tag.dl {
        PageParts.fact("receipts", HTML(text: part.survey.receiptCounts))
        PageParts.fact("contexts", HTML(text: PageParts.number(part.survey.contexts)))
        PageParts.fact(
          "customers",
          part.survey.customers.isEmpty
            ? HTML(text: "none")
            : HTML(part.survey.customers.map { HTML([NamedID.customer($0).html, HTML(text: " ")]) }))
      }
    }
    if !part.receipts.isEmpty {
      ReceiptResource.list.html(
        part.receipts, caption: "Receipts, newest first", without: ["user_id", "processor"], now: now)
      if part.receipts.count < part.survey.receipts.count { more("receipts", part.survey.app) }
    }
    if !part.contexts.isEmpty {
      ContextResource.list.html(
        part.contexts, caption: "Contexts, newest first", without: ["user_id"], now: now)
      if part.contexts.count < part.survey.contexts { more("contexts", part.survey.app) }
    }
  }

  private func more(_ list: String, _ app: AppSlug) -> HTML {
    Tag.p(.class("summary")) {
      Tag.a(.href(Link(list, query: [("app", app.text), ("user", user.text)]))) { "All \(list)" }
    }
  }
}

extension Dashboard {
  func user(_ form: AdminForm) throws(Refusal) -> DashboardPage {
    guard let text = form["id"], let id = UntrustedText.identifier(text) else { throw .problem(.unknownUser) }
    let (user, now) = (UserID(id), now)
    let parts = try read { source throws(StoreFault) -> [UserPage.Part] in
      var parts: [UserPage.Part] = []
      for part in try UserSurvey(of: user, app: nil, source.reader).parts {
        var receipts = ReceiptFilter()
        (receipts.userID, receipts.app) = (user, part.app)
        var contexts = ContextFilter()
        (contexts.userID, contexts.app) = (user, part.app)
        parts.append(
          UserPage.Part(
            survey: part, receipts: try source.reader.receipts(receipts, limit: UserPage.shownMax),
            contexts: try source.reader.contexts(contexts, now: now, limit: UserPage.shownMax)))
      }
      return parts
    }
    guard !parts.isEmpty else { throw .problem(.unknownUser) }
    return UserPage(user: user, parts: parts, now: now).page
  }
}

extension Problem {
  static let unknownUser = Problem(
    slug: "unknown-user", title: "No such user", status: 404,
    detail: "Nothing is known of this user. Ids of users are compared exactly.")
}
