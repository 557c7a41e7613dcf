// Runs many orders of happenings side by side on one store, each about a purchase and users that no other
// order has, and compares the store with the model after each step. Each step is rolled back and lost with
// the program once, then done, then repeated. One thread.

import Domain
import Formats
import Platform
import Store
import TestSupport
import Testing

@testable import Store

/// One order of happenings.
struct JoinCourse {
  /// The number in all its ids.
  let n: String
  let order: [JoinHappening]
  var model: JoinModel
  let contexts: [JoinParty: ContextID]
  var row: PurchaseRowID?
  /// Whether it was reported, so that nothing more of it is compared.
  var isWrong = false
  let token = Monitor<ClaimToken?>(nil)
  /// What was sent and not answered.
  var wire: (id: ReceiptID, body: [UInt8])?

  func user(_ party: JoinParty) -> UserID { UserID("\(party)_\(n)") }

  func described(_ step: Int) -> String {
    "\(model.shape.reference), \(model.shape.subscription): "
      + order.prefix(step).map { "\($0)" }.joined(separator: ", ")
  }
}

/// What a store says of a course's purchase.
struct JoinFinding: Hashable {
  var user: JoinParty?
  var state: String
  var context: JoinParty?
  var body: String?

  var text: String {
    "\(state) of \(user.map { "\($0)" } ?? "nobody"), context of \(context.map { "\($0)" } ?? "nobody"), "
      + (body ?? "-")
  }

  init(_ record: PurchaseRecord?, _ course: JoinCourse) {
    let parties = JoinParty.allCases
    user = parties.first { course.user($0) == record?.purchase.userID }
    context = parties.first { record?.purchase.contextID == course.contexts[$0] }
    state = record?.receipt.map { "\($0.state)" + ($0.reason.map { "/\($0)" } ?? "") } ?? "none"
    body = record?.receipt?.body.map { bytes in
      String(decoding: bytes, as: UTF8.self).split(separator: " ").map { word in
        word.hasSuffix("_\(course.n)") ? word.dropLast(course.n.count + 1) : word
      }.joined(separator: " ")
    }
  }
}

final class JoinModelRun {
  private static let pause = 3 * minute
  private static let rules: [AppSlug: AppRules] = [
    "ios": AppRules(
      join: JoinPolicy(), processors: ["stripe": .stripe(reference: .knownUser)], compose: TestStore.compose)
  ]

  let store: TestStore
  private(set) var courses: [JoinCourse]
  private var courseOf: [ObjectID: Int] = [:]
  private(set) var steps = 0
  /// Every transaction, but those of erasures: an erasure that is asked for again erases what came since.
  private var retried: [[() -> Submission]] = []
  /// What is wrong with each course.
  private(set) var wrong: [String] = []
  /// How each course ended.
  private(set) var ends: [(model: JoinModel, order: [JoinHappening], finding: JoinFinding)] = []

  /// - Parameter orders: all let time pass at the same steps.
  init(_ orders: [[JoinHappening]], _ shape: JoinShape) throws {
    store = try TestStore(rules: Self.rules)
    let store = store
    courses = orders.enumerated().map { number, order in
      JoinCourse(
        n: "\(1000 + number)", order: order, model: JoinModel(shape),
        contexts: [.one: store.makeContextID(), .other: store.makeContextID()])
    }
    for (index, course) in courses.enumerated() { courseOf[ObjectID("sub_\(course.n)")] = index }
  }

  // MARK: - Steps

  func run() throws {
    for step in 0..<(courses.first?.order.count ?? 0) { try take(step) }
    try passTime()
    var records = try records()
    for index in courses.indices { compare(index, records, isSettled: true, courses[index].order.count) }
    for course in courses {
      ends.append((course.model, course.order, JoinFinding(course.row.flatMap { records[$0] }, course)))
    }
    // Senders that had no answer try again, however late.
    for round in retried { try commit(round) }
    for (row, record) in try self.records() where records[row] != record {
      let course = courses.first { $0.row == row }
      throw Violation(description: "\(course?.described(9) ?? ""): a late retry changed \(record)")
    }
    try checkTraces()
    // Nothing waits for ever, and what is ready stays so.
    store.advance(day)
    try endWaits()
    records = try self.records()
    for (index, course) in courses.enumerated() {
      let finding = JoinFinding(course.row.flatMap { records[$0] }, course)
      var expected = ends[index].finding
      if expected.state == "waiting/user" { expected.state = "failed/user" }
      if finding != expected { wrong.append("\(course.described(9)): a day later \(finding.text)") }
    }
    try store.checkInvariants()
  }

  private func take(_ step: Int) throws {
    store.advance(second)
    if courses.first?.order[step].passesTime ?? false { try passTime() }
    let before = try records()
    if courses.first?.order[step].passesTime ?? false { send(before) }
    let all = try courses.indices.map { try acts(of: courses[$0].order[step], courses[$0]) }
    let rounds = Self.rounds(all)
    retried += Self.rounds(zip(courses, all).filter { $0.0.order[step] != .erasure }.map(\.1))
    for round in rounds {
      let lost = round.map { $0() } + [Submission(Crash()) { _ in }]
      let fault = store.writer.apply(lost, now: store.now).fault
      try require(fault?.kind == .inputOutput, "the crash was \(fault?.description ?? "missed")")
      // The program goes on, or starts again.
      if step.isMultiple(of: 2) { try store.reopen() }
      try commit(round)
    }
    let after = try records()
    for index in courses.indices {
      courses[index].model.happen(courses[index].order[step])
      if courses[index].order[step] == .answer { courses[index].wire = nil }
      compare(index, after, isSettled: false, step + 1)
    }
    try store.checkInvariants()
    for round in rounds { try commit(round) }
    try require(try records() == after, "a retry changed something at step \(step)")
    try offerClaims(after, since: step + 1)
    steps += courses.count
  }

  /// The transactions of a step, each of all courses together.
  private static func rounds(_ acts: [[() -> Submission]]) -> [[() -> Submission]] {
    (0..<(acts.map(\.count).max() ?? 0)).map { round in
      acts.compactMap { $0.count > round ? $0[round] : nil }
    }
  }

  private func passTime() throws {
    store.advance(Self.pause)
    try endWaits()
  }

  private func endWaits() throws {
    while let next = try store.writer.apply(EndWaits(), now: store.now), next <= store.now {}
  }

  private func send(_ records: [PurchaseRowID: PurchaseRecord]) {
    for index in courses.indices where courses[index].wire == nil {
      courses[index].wire = due(courses[index], records)
    }
  }

  private func due(
    _ course: JoinCourse, _ records: [PurchaseRowID: PurchaseRecord]
  ) -> (id: ReceiptID, body: [UInt8])? {
    guard let receipt = course.row.flatMap({ records[$0]?.receipt }), receipt.state == .pending,
      let body = receipt.body
    else { return nil }
    return (receipt.id, body)
  }

  /// The return page of a purchase without a user has a claim link.
  private func offerClaims(_ records: [PurchaseRowID: PurchaseRecord], since step: Int) throws {
    try commit(
      courses.compactMap { course in
        guard course.order.dropFirst(step).contains(where: { $0 == .claimByOne || $0 == .claimByOther }),
          let record = course.row.flatMap({ records[$0] }), record.purchase.canBeClaimed(record.receipt)
        else { return nil }
        let (offer, token) = (
          OfferClaim(record.receiptID, app: "ios", origin: .page, lifetime: .days(7)), course.token
        )
        return {
          Submission(offer) { result in
            if case .success(.offered(_, let new)) = result { token.withLock { $0 = new } }
          }
        }
      })
  }

  private func commit(_ round: [() -> Submission]) throws {
    guard !round.isEmpty else { return }
    if let fault = store.writer.apply(round.map { $0() }, now: store.now).fault { throw fault }
  }

  /// A database that fails after everything was written, and before the commit.
  private struct Crash: StoreCommand {
    func apply(to store: StoreSession) throws(StoreFault) {
      throw StoreFault(.inputOutput, operation: "commit", reason: "a crash")
    }
  }

  private func records() throws -> [PurchaseRowID: PurchaseRecord] {
    let all = try store.reader.connection.prepare("SELECT \(PurchaseRow.columnList) FROM purchases")
      .all([], PurchaseRow.record)
    for record in all {
      if let index = courseOf[record.purchase.key.id] {
        try require(
          courses[index].row == nil || courses[index].row == record.rowID,
          "R2: \(courses[index].described(9)) has two rows")
        courses[index].row = record.rowID
      }
    }
    return Dictionary(uniqueKeysWithValues: all.map { ($0.rowID, $0) })
  }

  // MARK: - Checks

  private struct Violation: Error, CustomStringConvertible {
    let description: String
  }

  private func require(_ isTrue: Bool, _ text: @autoclosure () -> String) throws {
    if !isTrue { throw Violation(description: text()) }
  }

  private func compare(
    _ index: Int, _ records: [PurchaseRowID: PurchaseRecord], isSettled: Bool, _ step: Int
  ) {
    let (course, model) = (courses[index], courses[index].model)
    guard !course.isWrong else { return }
    let record = course.row.flatMap { records[$0] }
    let finding = JoinFinding(record, course)
    let content: JoinModel.Content?
    let states: [String]
    switch model.state {
    case .none: (content, states) = (nil, ["none"])
    case .waitsForUser: (content, states) = (nil, ["waiting/user"])
    case .ready(let ready):
      content = ready
      states = ["pending"] + (isSettled ? [] : ["waiting/checkout", "waiting/context"])
    case .delivered(let sent): (content, states) = (sent, ["delivered"])
    case .erased: (content, states) = (nil, ["none", "delivered", "cancelled/erased"])
    }
    let user = model.state == .erased ? nil : model.user
    let context = content.flatMap { $0.hasContext ? $0.user : nil }
    let hasConflict = record?.purchase.userConflict ?? false
    let body = content.map { content in
      "\(content.user) subscription sub price_1 " + (context.map { "blob_\($0)" } ?? "-")
    }
    var faults: [String] = []
    if !states.contains(finding.state) { faults.append("R4: its state") }
    if finding.user != user { faults.append("its user") }
    if finding.body != nil || isSettled, finding.body != body { faults.append("R2: its content") }
    if finding.body != nil || isSettled, finding.context != context { faults.append("R5: its context") }
    if let expected = model.hasConflict, isSettled || !expected, hasConflict != expected {
      faults.append("its conflict \(hasConflict)")
    }
    guard !faults.isEmpty else { return }
    courses[index].isWrong = true
    wrong.append("\(course.described(step)): \(faults): \(finding.text); model: \(model.state)")
  }

  /// What names an erased user is gone, unless it came after the erasure.
  private func checkTraces() throws {
    let dump = try TestEngine.current.dump(store.folder)
    let words = Set(dump.split { !$0.isASCII || !($0.isLetter || $0.isNumber || $0 == "_") })
    for course in courses {
      guard let erasure = course.order.firstIndex(of: .erasure) else { continue }
      let party = course.model.shape.erased
      let later = course.order[erasure...]
      let names: [JoinHappening] =
        party == .one
        ? [.contextOfOne, .completed, .customer, .claimByOne]
        : [.contextOfOther, .subscription, .setup, .claimByOther]
      guard later.allSatisfy({ !names.contains($0) }) else { continue }
      let word = Substring(course.user(party).text)
      try require(!words.contains(word), "\(course.described(9)): \(party) is still stored")
    }
  }
}
