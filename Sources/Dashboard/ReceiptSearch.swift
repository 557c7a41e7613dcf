// The filters of the receipt list, from the URL. Pure; called from any thread.

internal import Configuration
internal import Domain
internal import Durations
internal import Encoding
internal import HTML
internal import HTTPServer
internal import Platform
internal import Presentation
internal import Store

struct ReceiptSearch: Equatable {
  static let pageSize = 50

  var app: String?
  var processor: String?
  var state: ReceiptState?
  var reason: String?
  /// Why the last attempt failed.
  var cause: String?
  /// Only receipts that were delivered without an import id.
  var lacksImportID = false
  var user: String?
  var object: String?
  /// Unparsed: a duration before now, or a time.
  var since: String?
  var after: String?

  /// The choices of the form; a URL may have any duration, or an RFC 3339 time.
  static let sinceChoices = [
    ("1h", "the last hour"), ("24h", "the last 24 hours"), ("7d", "the last 7 days"),
    ("30d", "the last 30 days"),
  ]

  init() {}

  /// - Throws: `Fault` with the invalid field.
  init(query: String?) throws(Fault) {
    let fields = try AdminForm(query)
    app = fields["app"]
    processor = fields["processor"]
    reason = fields["reason"]
    cause = fields["cause"]
    user = fields["user"]
    object = fields["object"]
    for (name, value) in [
      ("app", app), ("processor", processor), ("reason", reason), ("cause", cause), ("user", user),
      ("object", object),
    ] {
      guard value == nil || UntrustedText.identifier(value) != nil else {
        throw Fault(
          path: name, message: "has at most \(UntrustedText.identifierBytesMax) bytes of plain text")
      }
    }
    if let reason, let fault = Reason.fault(in: reason) {
      throw Fault(path: "reason", message: "is wrong: \(fault)")
    }
    if let text = fields["state"] {
      guard let state = ReceiptState(rawValue: text) else {
        let known = ReceiptState.allCases.map(\.rawValue).joined(separator: ", ")
        throw Fault(path: "state", message: "is one of \(known)")
      }
      self.state = state
    }
    if let text = fields["import_id"] {
      guard text == "none" else { throw Fault(path: "import_id", message: "is `none`, or left out") }
      lacksImportID = true
    }
    if let text = fields["since"] {
      guard Self.moment(text, now: Timestamp(unixMilliseconds: .max)) != nil else {
        throw Fault(path: "since", message: "is how long ago (30m, 24h, 7d) or a time (2026-11-20T10:00:00Z)")
      }
      since = text
    }
    if let text = fields["after"] {
      guard ReceiptID(text).isWellFormed else {
        throw Fault(path: "after", message: "is the id of the last receipt on the previous page")
      }
      after = text
    }
  }

  private static func moment(_ text: String, now: Timestamp) -> Timestamp? {
    if let time = RFC3339.unixMilliseconds(parsing: text), time >= 0 {
      return Timestamp(unixMilliseconds: time)
    }
    guard let ago = DurationText.duration(parsing: text), ago.milliseconds <= now.unixMilliseconds else {
      return nil
    }
    return now - ago
  }

  func filter(now: Timestamp) -> ReceiptFilter {
    var filter = ReceiptFilter()
    filter.app = app.map(AppSlug.init)
    filter.processor = processor.map(ProcessorName.init)
    filter.state = state
    filter.reason = reason
    filter.cause = cause
    filter.lacksImportID = lacksImportID
    filter.userID = user.map(UserID.init)
    filter.objectID = object.map(ObjectID.init)
    filter.since = since.flatMap { Self.moment($0, now: now) }
    filter.after = after.map(ReceiptID.init)
    return filter
  }

  /// The same search on another page; nil for the first page.
  func link(after: String?) -> Link {
    Link(
      "receipts",
      query: [
        ("app", app), ("processor", processor), ("state", state?.rawValue), ("reason", reason),
        ("cause", cause), ("user", user), ("object", object), ("import_id", lacksImportID ? "none" : nil),
        ("since", since), ("after", after),
      ])
  }

  var isFiltered: Bool { self != ReceiptSearch() && link(after: nil) != ReceiptSearch().link(after: nil) }
}

/// The fields of a query or a form. An empty field counts as absent, because forms send all fields.
struct AdminForm {
  private let fields: [FormFields.Field]

  /// - Throws: `Fault` if it cannot be decoded.
  init(_ query: String?) throws(Fault) { try self.init(bytes: Array((query ?? "").utf8)) }

  init(bytes: [UInt8]) throws(Fault) {
    do {
      fields = try FormFields.all(in: bytes.span)
    } catch {
      throw Fault(path: "", message: "has a broken percent escape, or is not UTF-8")
    }
  }

  /// The value of the first field with this name.
  subscript(name: String) -> String? {
    fields.first { $0.name == name }.flatMap { UntrustedText.nonEmpty($0.value) }
  }
}
