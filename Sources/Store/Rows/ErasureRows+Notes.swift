// The erasure in what operators asked and noted: jobs and the audit. The writer's thread.

internal import Domain
internal import Formats

extension ErasureRows {
  /// Members of a job's request and of an audit entry that never contain an id of a user.
  private static let impersonal: Set<String> = [
    "app", "processor", "state", "reason", "cause", "status", "price", "join",
  ]

  /// Notes identifiers of the user who is being erased.
  /// - Parameter remembers: whether to keep their hashes, so that later events that name them are recognized.
  func note(_ names: UserIdentifiers, app: AppSlug, remembers: Bool) throws(StoreFault) {
    erased[app, default: UserIdentifiers()].formUnion(names)
    guard remembers else { return }
    for id in names.ids.sorted() {
      if let token: ObjectID = token(ObjectID(id), app: app) { try insertingID.run([.text(token)]) }
    }
  }

  /// Replaces what was erased in jobs and in the audit, and deletes the operators' reasons that are about it.
  /// Called once at the end of each command of an erasure.
  func forgetNotes() throws(StoreFault) {
    defer { (erased, subjects) = ([:], []) }
    for (app, names) in erased.sorted(by: { $0.key < $1.key }) {
      try forgetJobs(names, app)
      try forgetAudit(names, app)
    }
  }

  private func forgetJobs(_ names: UserIdentifiers, _ app: AppSlug) throws(StoreFault) {
    let all = try jobs.all { row throws(StoreFault) in
      (row: row.integer(0) as Int64, id: try row.text(1) as String, asked: try row.text(2) as String)
    }
    for job in all {
      guard let asked = try? JSONValue(parsing: Array(job.asked.utf8)),
        asked["app"].map({ $0.stringValue == app.text }) ?? true
      else { continue }
      let changed = replaced(asked, names, app)
      guard changed != asked else { continue }
      try changingJob.run([.integer(job.row), .text(changed.text)])
      subjects.insert(job.id)
    }
  }

  private func forgetAudit(_ names: UserIdentifiers, _ app: AppSlug) throws(StoreFault) {
    typealias Entry = (row: Int64, subject: String?, reason: String?, details: String)
    let all: [Entry] = try notes.all([.text(app)]) { row throws(StoreFault) in
      (row.integer(0), try row.optionalText(1), try row.optionalText(2), try row.text(3))
    }
    for entry in all {
      let isSubject = entry.subject.map { names.users.contains(UserID($0)) || names.isNamed(by: $0) } ?? false
      let isAbout = isSubject || entry.subject.map(subjects.contains) ?? false
      let subject = isSubject ? entry.subject.flatMap { token(ObjectID($0), app: app)?.text } : entry.subject
      let isReasonKept = !isAbout && entry.reason.map { !names.isNamed(inWords: $0) } ?? true
      let details = (try? JSONValue(parsing: Array(entry.details.utf8))).map { replaced($0, names, app) }
      let changed: Entry = (
        entry.row, subject, isReasonKept ? entry.reason : nil,
        details.map(\.text) ?? entry.details
      )
      guard changed != entry else { continue }
      try changingNote.run([
        .integer(entry.row), .optional(changed.subject), .optional(changed.reason), .text(changed.details),
      ])
    }
  }

  private func replaced(_ value: JSONValue, _ names: UserIdentifiers, _ app: AppSlug) -> JSONValue {
    switch value {
    case .string(let text) where names.users.contains(UserID(text)) || names.isNamed(by: text):
      .string(token(ObjectID(text), app: app)?.text ?? Purchase.erasedPrefix)
    case .array(let values): .array(values.map { replaced($0, names, app) })
    case .object(let members):
      .object(
        members.map { member in
          Self.impersonal.contains(member.name)
            ? member : .init(name: member.name, value: replaced(member.value, names, app))
        })
    default: value
    }
  }
}
