// The statements that replace an erased user's ids by hashes (`ErasureHash`). The writer's thread.

internal import Cryptography
internal import Domain
internal import Formats

final class ErasureRows {
  private static let keyBytes = 32
  /// A checkout sells one purchase.
  private static let candidatesMax = 10
  private static let contextsMax = 100_000

  private let readingKey: StoreStatement
  private let insertingKey: StoreStatement
  private let keys: any KeyIndex
  private let purchases: PurchaseRows
  private let joins: JoinRows
  private let awaited: AwaitedContextRows
  private let knownObject: StoreStatement
  private let soldByCheckout: StoreStatement
  private let eventsOfPurchase: StoreStatement
  private let event: StoreStatement
  private let emptyingEvent: StoreStatement
  private let bodiesOfPurchase: StoreStatement
  private let changingBody: StoreStatement
  private let emptyingAttempts: StoreStatement
  private let emptyingPurchase: StoreStatement
  private let changingNames: StoreStatement
  private let emptyingContext: StoreStatement
  private let contextOfUser: StoreStatement
  let insertingID: StoreStatement
  private let erasedID: StoreStatement
  let jobs: StoreStatement
  let changingJob: StoreStatement
  let notes: StoreStatement
  let changingNote: StoreStatement
  private let readsAhead: Bool
  /// The events that were emptied since `drainEvents`.
  private var emptied: Set<Int64> = []
  /// What was erased since `forgetNotes`, by app.
  var erased: [AppSlug: UserIdentifiers] = [:]
  /// Subjects of audit entries whose reasons are about what was erased.
  var subjects: Set<String> = []
  /// The hashes that were read ahead, and whether they are those of erased ids.
  private var known: [String: Bool] = [:]
  /// Nil until a user was erased.
  private(set) var currentHash: ErasureHash?

  init(
    _ connection: StoreConnection, purchases: PurchaseRows, joins: JoinRows, awaited: AwaitedContextRows
  ) throws(StoreFault) {
    (self.purchases, self.joins, self.awaited) = (purchases, joins, awaited)
    readsAhead = connection.engine.readAhead != nil
    keys = connection.engine.keys
    readingKey = try connection.prepare(ErasureHash.readingKeySQL)
    insertingKey = try connection.prepare("INSERT INTO erasure_key (row_id, key) VALUES (1, ?1)")
    knownObject = try connection.prepare(
      """
      SELECT 1 FROM purchases WHERE object_id = ?1 AND app = ?3 AND processor = ?4
      UNION ALL SELECT 1 FROM purchases WHERE object_id = ?2 AND app = ?3 AND processor = ?4 LIMIT 1
      """)
    soldByCheckout = try connection.prepare(
      "SELECT 1 FROM purchases WHERE row_id = ?1 AND session_id = ?2 AND app = ?3 AND processor = ?4")
    eventsOfPurchase = try connection.prepare(
      "SELECT row_id, app, event_id FROM events WHERE purchase_row = ?1")
    event = try connection.prepare("SELECT row_id, app, event_id FROM events WHERE row_id = ?1")
    emptyingEvent = try connection.prepare(
      "UPDATE events SET event_id = ?2, body = x'', dictionary = NULL WHERE row_id = ?1")
    bodiesOfPurchase = connection.prepareOnUse(
      "SELECT row_id, app, event_id, processor, body, dictionary FROM events WHERE purchase_row = ?1")
    changingBody = connection.prepareOnUse("UPDATE events SET body = ?2, dictionary = ?3 WHERE row_id = ?1")
    emptyingAttempts = try connection.prepare("UPDATE attempts SET response = x'' WHERE purchase_row = ?1")
    emptyingPurchase = try connection.prepare(
      """
      UPDATE purchases SET object_id = ?2, session_id = ?3, customer_id = NULL, user_id = NULL,
        user_source = NULL, other_names = NULL, user_conflict = 0, unmatched = 0, context_id = NULL,
        ply_context = NULL, body = NULL, dictionary = NULL,
        context_at = NULL, import_id = NULL,
        note = NULL, payment = NULL, updated_at = ?4
      WHERE row_id = ?1
      """)
    changingNames = connection.prepareOnUse(
      "UPDATE purchases SET other_names = ?2, user_conflict = ?3, unmatched = ?4 WHERE row_id = ?1")
    emptyingContext = try connection.prepare(
      """
      UPDATE contexts SET id = ?2, user_id = '', ply_context = '', frame = NULL, dictionary = NULL,
        digest = x'',
        purchase_row = coalesce(purchase_row, 0)
      WHERE row_id = ?1
      """)
    contextOfUser = try connection.prepare(
      """
      SELECT id, digest, received_at, purchase_row IS NULL FROM contexts
      WHERE row_id = ?1 AND user_id = ?2 AND app = ?3
      """)
    insertingID = try connection.prepare("INSERT INTO erased_ids (hash) VALUES (?1) ON CONFLICT DO NOTHING")
    erasedID = try connection.prepare("SELECT 1 FROM erased_ids WHERE hash = ?1")
    // There are few jobs and audit entries, so a scan is cheap. A job that is still choosing receipts by an
    // erased id finds none.
    jobs = connection.prepareOnUse("SELECT row_id, id, asked, user_id FROM jobs")
    changingJob = connection.prepareOnUse(
      "UPDATE jobs SET asked = ?2, user_id = ?3, reason = NULL WHERE row_id = ?1")
    notes = connection.prepareOnUse(
      "SELECT row_id, subject, reason, details FROM audit WHERE app = ?1 OR app IS NULL")
    changingNote = connection.prepareOnUse(
      "UPDATE audit SET subject = ?2, reason = ?3, details = ?4 WHERE row_id = ?1")
  }

  /// Whether any user was ever erased; until then nothing is hashed.
  var isInUse: Bool { currentHash != nil }

  /// Called at the start of each transaction: another process may have erased a user.
  func begin() throws(StoreFault) {
    guard !readsAhead, !isInUse, let key = try readingKey.first([], { row throws(StoreFault) in row.blob(0) })
    else {
      return
    }
    currentHash = try ErasureHash(key: key)
  }

  /// The key, or the ids of erased users that the batch may name, for an engine that reads ahead.
  func reads(_ declared: Set<ReadKey>) -> [BulkRead] {
    guard isInUse else { return [BulkRead("key", of: "erasure_key", where: "row_id", in: [1])] }
    return [BulkRead("hash", of: "erased_ids", where: "hash", in: Self.mentions(declared).map { .text($0) })]
  }

  private static func mentions(_ declared: Set<ReadKey>) -> [String] {
    declared.compactMap { key in
      guard case .mention(_, let id) = key, Purchase.isErased(ObjectID(id)) else { return nil }
      return id
    }
  }

  /// Notes the declared ids that are being read. `add` follows for those that are found.
  func expect(_ declared: Set<ReadKey>) {
    known = [:]
    guard isInUse else { return }
    for id in Self.mentions(declared) { known[id] = false }
  }

  func add(mention row: StoreRow) throws(StoreFault) { known[try row.text(0)] = true }

  /// Whether an event names an id of an erased user.
  func hasErased(_ mentions: Mentions, app: AppSlug) throws(StoreFault) -> Bool {
    for id in mentions.ids where try hasErased(id: id, app: app) { return true }
    return false
  }

  func hasErased(id: String, app: AppSlug) throws(StoreFault) -> Bool {
    guard let token = token(id, app: app) else { return false }
    if let isErased = known[token] { return isErased }
    return try erasedID.first([.text(token)]) { _ throws(StoreFault) in true } ?? false
  }

  func add(_ row: StoreRow) throws(StoreFault) { currentHash = try ErasureHash(key: row.blob(0)) }

  /// Invalidates the cached key after a rollback, which may have removed it.
  func invalidate() { (currentHash, emptied, erased, subjects, known) = (nil, [], [:], [], [:]) }

  /// Creates the key, unless there is one.
  func prepare(random: inout any RandomNumberGenerator & Sendable) throws(StoreFault) {
    guard !isInUse else { return }
    let key = (0..<Self.keyBytes).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    try insertingKey.run([.blob(key)])
    currentHash = try ErasureHash(key: key)
  }

  /// The hash that replaces an id; nil until a user was erased.
  func token<ID: TextID>(_ id: ID, app: AppSlug) -> ID? { token(id.text, app: app).map { ID($0) } }

  private func token(_ id: String, app: AppSlug) -> String? { currentHash?.token(id, app: app) }

  /// Whether a purchase belongs to an erased user.
  func isErased(
    _ key: PurchaseKey, sessionID: SessionID? = nil, app: AppSlug
  ) throws(StoreFault) -> Bool {
    guard let object = token(key.id, app: app) else { return false }
    let session = sessionID.flatMap { token($0, app: app) }
    if try isPresent(object, session, AppProcessor(app, key.processor)) { return true }
    guard let session else { return false }
    for row in try keys.rows(RowKey(.session, session, app: app), limit: Self.candidatesMax) {
      let isErased = try soldByCheckout.first([
        .integer(row), .text(session), .text(app), .text(key.processor),
      ]) { _ throws(StoreFault) in true }
      if isErased != nil { return true }
    }
    return false
  }

  /// Whether a purchase has one of these hashes as the id of its object.
  private func isPresent(
    _ object: ObjectID, _ session: SessionID?, _ place: AppProcessor
  ) throws(StoreFault) -> Bool {
    let ids = [object, session.map { ObjectID($0.text) }].compactMap(\.self)
    let read = ids.compactMap { purchases.knows($0, at: place) }
    if read.count == ids.count { return read.contains(true) }
    return try knownObject.first([
      .text(object), .optional(session), .text(place.app), .text(place.processor),
    ]) { _ throws(StoreFault) in true } ?? false
  }

  /// Erases the personal data of a purchase, its events and its answers. Its receipt must not be under way.
  /// - Returns: how many events were erased.
  func empty(_ record: PurchaseRecord, at now: Timestamp) throws(StoreFault) -> Int {
    let events = try emptyEvents(ofPurchase: record.rowID)
    try emptyingAttempts.run([.integer(record.rowID)])
    try awaited.drop(row: record.rowID)
    let purchase = record.purchase
    if let receipt = record.receipt { subjects.insert(receipt.id.text) }
    var names = UserIdentifiers()
    names.add(purchase.key.id)
    names.add(purchase.sessionID)
    names.add(purchase.customerID)
    names.add(purchase.contextID)
    names.add(id: record.receipt?.importID)
    try note(names, app: record.app, remembers: false)
    if let customer = purchase.customerID.flatMap({ token($0.text, app: record.app) }) {
      try insertingID.run([.text(customer)])
    }
    let session = record.purchase.sessionID.flatMap { token($0, app: record.app) }
    try emptyingPurchase.run([
      .integer(record.rowID), .optional(token(record.purchase.key.id, app: record.app)), .optional(session),
      .time(now),
    ])
    joins.move(from: record, to: nil)
    for key in record.keys { try keys.erase(key, row: record.rowID.number) }
    if let session, record.purchase.sessionID?.text != record.purchase.key.id.text {
      try keys.add(RowKey(.session, session, app: record.app), row: record.rowID.number)
    }
    return events
  }

  /// Erases the events of a purchase.
  /// - Returns: how many.
  @discardableResult
  func emptyEvents(ofPurchase row: PurchaseRowID) throws(StoreFault) -> Int {
    let events = try eventsOfPurchase.all([.integer(row)], Self.named)
    for event in events { try empty(event) }
    return events.count
  }

  /// Removes a user's name from some purchases of other users, and from their events. The user's contexts
  /// must not be erased yet: events name the user by their ids, too.
  /// - Returns: how many rows were looked at; fewer than `limit` when none is left.
  func forgetNames(app: AppSlug, user: UserID, limit: Int64) throws(StoreFault) -> Int {
    let (key, rows) = (RowKey(.user, user, app: app), try namedRows(app: app, user: user, limit: limit))
    guard !rows.isEmpty else { return 0 }
    let names = try identifiers(of: user, app: app)
    for row in rows {
      try blank(names, inEventsOf: row)
      guard var record = try purchases.findToRemove(row: row) else { continue }
      let before = record.keys
      record.purchase.forget(user, leaving: token(user, app: app))
      try changingNames.run([
        .integer(row), .optional(record.purchase.otherNames.stored), .flag(record.purchase.userConflict),
        .flag(record.isUnmatched),
      ])
      for key in record.keys where !before.contains(key) { try keys.add(key, row: row.number) }
      try keys.erase(key, row: row.number)
    }
    return rows.count
  }

  private func identifiers(of user: UserID, app: AppSlug) throws(StoreFault) -> UserIdentifiers {
    var names = UserIdentifiers()
    names.users = [user]
    for row in try keys.rows(RowKey(.contextUser, user, app: app), limit: Self.contextsMax) {
      let id: ContextID? = try contextOfUser.first([.integer(row), .text(user), .text(app)]) {
        row throws(StoreFault) in try row.text(0)
      }
      names.add(id)
    }
    return names
  }

  /// Blanks a user's name in the events of another user's purchase. One that cannot be read is emptied.
  private func blank(_ names: UserIdentifiers, inEventsOf row: PurchaseRowID) throws(StoreFault) {
    let events = try bodiesOfPurchase.all([.integer(row)]) { row throws(StoreFault) in
      (
        named: try Self.named(row), processor: try row.text(3) as ProcessorName,
        body: StoredBody(row, at: 4, 5)
      )
    }
    for event in events {
      let bytes: [UInt8]
      do throws(StoreFault) {
        bytes = try event.body.read()
      } catch {
        guard error.kind == .corrupt else { throw error }
        try empty(event.named)
        continue
      }
      guard let body = try? JSONValue(parsing: bytes) else { continue }
      let blanked = names.blanked(body)
      guard blanked != body else { continue }
      let rest = blanked.serialized()
      let stored = BodyDictionary.ofEvents(from: event.processor)?.pack(rest) ?? StoredBody(rest)
      try changingBody.run([.integer(event.named.row), .blob(stored.bytes), .optional(stored.dictionary)])
      emptied.insert(event.named.row.number)
    }
  }

  private func namedRows(app: AppSlug, user: UserID, limit: Int64) throws(StoreFault) -> [PurchaseRowID] {
    var found: [PurchaseRowID] = []
    for row in try keys.rows(RowKey(.user, user, app: app), limit: Int(limit)).map(PurchaseRowID.init) {
      guard let record = try purchases.findToRemove(row: row), record.app == app,
        record.purchase.otherNames.contains(where: { $0.id == user })
      else { continue }
      found.append(row)
    }
    return found
  }

  /// Erases an event that belongs to no purchase.
  func empty(eventRow row: EventRowID) throws(StoreFault) {
    if let found = try event.first([.integer(row)], Self.named) { try empty(found) }
  }

  /// The rows of the events that were emptied since the last call.
  func drainEvents() -> Set<Int64> {
    defer { emptied = [] }
    return emptied
  }

  private typealias NamedEvent = (row: EventRowID, app: AppSlug, id: EventID)

  private static func named(_ row: StoreRow) throws(StoreFault) -> NamedEvent {
    (row.integer(0), try row.text(1), try row.text(2))
  }

  private func empty(_ event: NamedEvent) throws(StoreFault) {
    guard !Purchase.isErased(event.id), let token = token(event.id, app: event.app) else { return }
    emptied.insert(event.row.number)
    try emptyingEvent.run([.integer(event.row), .text(token)])
    erased[event.app, default: UserIdentifiers()].add(event.id)
  }

  /// The id of a context after its user was erased; nil until a user was erased. It keeps the time in the id,
  /// because lists find rows by it, and replaces the rest, which is a secret of the user.
  func name(of context: ContextID, app: AppSlug) -> ContextID? {
    currentHash.map { hash in
      let time = context.text.prefix(ContextID.prefix.utf8.count + 10)
      return ContextID(time + ErasureHash.text(hash.bytes(of: context.text, app: app).prefix(8)))
    }
  }

  /// Erases some of a user's contexts.
  /// - Returns: how many; fewer than `limit` when none is left, except if rows of another user have a key
  ///   with the same number.
  func emptyContexts(app: AppSlug, user: UserID, limit: Int64) throws(StoreFault) -> Int {
    erased[app, default: UserIdentifiers()].users.insert(user)
    let rows = try keys.rows(RowKey(.contextUser, user, app: app), limit: Int(limit))
    var count = 0
    for row in rows {
      let found = try contextOfUser.first([.integer(row), .text(user), .text(app)]) {
        row throws(StoreFault) in
        (
          id: try row.text(0) as ContextID, digest: row.blob(1),
          receivedAt: Timestamp(unixMilliseconds: row.integer(2)), isUnclaimed: row.flag(3)
        )
      }
      guard let (id, digest, receivedAt, isUnclaimed) = found, let name = name(of: id, app: app) else {
        continue
      }
      erased[app, default: UserIdentifiers()].add(id)
      try emptyingContext.run([.integer(row), .text(name)])
      if isUnclaimed { joins.count(.unclaimed, -1, app: app, receivedAt: receivedAt) }
      for key in RowKey.keys(app: app, contextOf: user, digest: digest) { try keys.erase(key, row: row) }
      count += 1
    }
    return count
  }
}

// MARK: - Notes

// The erasure in what operators asked and noted: jobs and the audit. The writer's thread.

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
      (
        row: row.integer(0) as Int64, id: try row.text(1) as String, asked: try row.text(2) as String,
        user: try row.optionalText(3) as UserID?
      )
    }
    for job in all {
      guard let asked = try? JSONValue(parsing: Array(job.asked.utf8)),
        asked["app"].map({ $0.stringValue == app.text }) ?? true
      else { continue }
      let changed = replaced(asked, names, app)
      let isUser = job.user.map(names.users.contains) ?? false
      guard changed != asked || isUser else { continue }
      try changingJob.run([.integer(job.row), .text(changed.text), .optional(isUser ? nil : job.user)])
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

// MARK: - ErasureHash

// The hash that replaces an erased user's ids. It uses a key of this database: an id that comes again is
// recognized, but cannot be derived from the hash. Any thread.

struct ErasureHash {
  /// The stored length of a hash; a collision by chance is practically impossible.
  private static let tokenBytes = 16
  static let readingKeySQL = "SELECT key FROM erasure_key WHERE row_id = 1"

  private let code: HMACSHA256

  init(key: [UInt8]) throws(StoreFault) {
    do throws(CryptographyError) {
      code = try HMACSHA256(key: key)
    } catch {
      throw StoreFault(.outOfMemory, operation: "hash", reason: "out of memory")
    }
  }

  func bytes(of id: String, app: AppSlug) -> [UInt8] { bytes(of: id, in: app.text) }

  /// - Parameter scope: an app's name, or a text that is none. It contains no NUL, so no two pairs hash the
  ///   same bytes.
  private func bytes(of id: String, in scope: String) -> [UInt8] {
    code.authenticationCode(for: Array(scope.utf8), [0], Array(id.utf8))
  }

  /// The text that is stored instead of an id.
  func token(_ id: String, app: AppSlug) -> String { token(id, in: app.text) }

  /// The text that is stored instead of an id that several apps share.
  func token(_ id: String, in scope: String) -> String {
    Purchase.erasedPrefix + Self.text(bytes(of: id, in: scope).prefix(Self.tokenBytes))
  }

  /// Lower-case hexadecimal digits.
  static func text(_ bytes: some Sequence<UInt8>) -> String { Hex.encode(Array(bytes)) }
}
