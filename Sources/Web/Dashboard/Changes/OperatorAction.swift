// What operators can change, each declared once: the dashboard makes a form of it, and the API an operation.

internal import Domain
internal import Formats
internal import HTTPServer
internal import Reports
internal import Service

/// A change that operators make.
struct OperatorAction: Sendable {
  typealias Ask = @Sendable (Dashboard, Visit, AdminForm) throws(Dashboard.Refusal) -> ConfirmationPage
  typealias Page = @Sendable (Dashboard, Visit) throws(Dashboard.Refusal) -> DashboardPage
  typealias Change = @Sendable (Dashboard, Visit, AdminForm, Exchange) throws(Dashboard.Refusal) -> Void

  /// A value that it needs: a field of the form, a member of the API's object.
  struct Field: Sendable {
    enum Kind { case text, flag, number }

    let name: String
    /// Without a full stop.
    let text: String
    let kind: Kind
    let isRequired: Bool

    init(_ name: String, _ text: String, _ kind: Kind = .text, isRequired: Bool = false) {
      (self.name, self.text, self.kind, self.isRequired) = (name, text, kind, isRequired)
    }

    static let why = Field("why", "Why, in a few words; kept in the audit")
    static let whyRequired = Field("why", "Why, in a few words; kept in the audit", isRequired: true)
    static let rate = Field(
      "rate", "Receipts a second, from 0.001 to 10000; \(ConfirmationPage.rateDefault) without it", .number)
    static let rateRequired = Field(
      "rate", "Receipts a second, from 0.001 to 10000", .number, isRequired: true)
  }

  /// Of the form; that of the API is below its root.
  let path: String
  let summary: String
  let fields: [Field]
  /// Says what would be done; nil if `change` does that until it may save.
  let ask: Ask?
  /// The page with the form.
  let page: Page
  let change: Change

  init(
    _ path: String, _ summary: String, _ fields: [Field], ask: Ask?, page: @escaping Page,
    change: @escaping Change
  ) {
    (self.path, self.summary, self.fields) = (path, summary, fields)
    (self.ask, self.page, self.change) = (ask, page, change)
  }

  /// An action whose page only asks. The query of the page is the form.
  init(
    _ path: String, _ summary: String, _ fields: [Field], ask: @escaping Ask, change: @escaping Change
  ) {
    self.init(
      path, summary, fields, ask: ask,
      page: { dashboard, visit throws(Dashboard.Refusal) in
        try ask(dashboard, visit, try dashboard.form(visit.head.query)).page
      }, change: change)
  }
}

// MARK: - For programs

extension Dashboard {
  private static let previewField = "preview"

  /// The action as an operation of the API: with `?preview=true` it answers what it would do.
  func operation(_ action: OperatorAction) -> APIOperation {
    let route = Route(
      ["POST"], Self.apiRoot + action.path, label: Self.apiLabel, bodyBytesMax: Self.formBytesMax
    ) { visit throws(Problem) in
      try Self.checkIDs(of: visit)
      // Without a configured login a request needs no token.
      guard AdminAccess.isOfThisSite(visit.head) else { throw .foreignForm }
      guard visit.head.mediaType == .json else { throw .jsonNeeded }
      return { request, exchange in
        let dashboard = serving(visit, isProgram: true)
        do throws(Refusal) {
          let isPreview = try dashboard.isPreview(visit.head.query)
          let form = try dashboard.checked(AdminForm(json: request.body, action.fields))
          if let ask = action.ask, isPreview {
            dashboard.answer(.question(try ask(dashboard, visit, form)), exchange)
          } else {
            let isSaved = action.ask == nil && !isPreview
            try action.change(
              dashboard, visit, isSaved ? form.adding(Self.saveField, "yes") : form, exchange)
          }
        } catch {
          exchange.answer(dashboard.response(to: error, exchange.scope))
        }
      }
    }
    return APIOperation(
      path: action.path, summary: action.summary,
      parameters: {
        [
          .init(
            name: Self.previewField, text: "With true, nothing is changed: the answer says what would be",
            schema: ["type": "string", "enum": ["true", "false"]])
        ]
      }, fields: action.fields, answer: { Self.changeSchema }, route: route)
  }

  private func isPreview(_ query: String?) throws(Refusal) -> Bool {
    let form = try form(query)
    try form.check(known: [Self.previewField])
    guard let text = form[Self.previewField] else { return false }
    guard let isPreview = Bool(text) else {
      throw .problem(Self.invalid(Self.previewField, "must be true or false"))
    }
    return isPreview
  }
}

extension AdminForm {
  /// The members of a JSON object as a form has them.
  fileprivate init(json bytes: [UInt8], _ known: [OperatorAction.Field]) throws(Dashboard.Refusal) {
    guard let value = try? JSONValue(parsing: bytes), case .object(let members) = value else {
      throw .problem(
        .invalid("invalid-body", "The body must be a JSON object, such as {\"why\": \"a test\"}."))
    }
    var fields: [FormFields.Field] = []
    for member in members {
      guard let field = known.first(where: { $0.name == member.name }) else {
        let names = known.map(\.name).joined(separator: ", ")
        throw .problem(
          Dashboard.invalid(String(member.name.prefix(64)), "is not known; the members here are \(names)"))
      }
      if let text = try field.text(of: member.value) { fields.append((field.name, text)) }
    }
    self.init(fields)
    for field in known where field.isRequired && self[field.name] == nil {
      throw .problem(Dashboard.invalid(field.name, "is missing: \(field.text)"))
    }
    guard Set(fields.map(\.name)).count == fields.count else {
      throw .problem(.invalid("invalid-body", "A member is there twice. Nothing was changed."))
    }
  }

  fileprivate func adding(_ name: String, _ value: String) -> AdminForm {
    AdminForm(fields + [(name, value)])
  }
}

extension OperatorAction.Field {
  /// The text that the form would have; nil for null.
  fileprivate func text(of value: JSONValue) throws(Dashboard.Refusal) -> String? {
    switch (kind, value) {
    case (_, .null), (.flag, .bool(false)): return nil
    case (.flag, .bool(true)): return FilterFlag.given
    case (.number, .integer), (.number, .number): return value.text
    case (.text, .string(let text)): return text
    default:
      let form = kind == .flag ? "true or false" : kind == .number ? "a number" : "a text"
      throw .problem(Dashboard.invalid(name, "must be \(form)"))
    }
  }
}

extension Problem {
  fileprivate static let jsonNeeded = Problem(
    slug: "unsupported-media-type", status: 415, detail: "Send `Content-Type: application/json`.")
}

extension ConfirmationPage {
  /// What would be done, for programs.
  var json: JSONValue {
    [
      "question": .string(title), "text": .array(text.map(JSONValue.string)),
      "changes": .array(
        facts.map { fact in
          ["name": .string(fact.name), "was": .optional(fact.was), "value": .string(fact.value)]
        }), "needs_why": .bool(needsReason),
    ]
  }
}

extension Link {
  /// What a change led to, for programs: its object is at `/api/v1/RESOURCE/ID`.
  var changed: JSONValue {
    let parts = text.prefix { $0 != "?" }.split(separator: "/").map(String.init)
    return ["resource": .optional(parts.first), "id": .optional(parts.count > 1 ? parts[1] : nil)]
  }
}
