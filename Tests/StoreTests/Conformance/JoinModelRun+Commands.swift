// The commands by which a happening reaches the store: those that webhooks, apps, the return page, operators
// and the dispatcher give.

import Domain
import Formats
import Platform
import Store
import TestSupport

extension JoinModelRun {
  func acts(of happening: JoinHappening, _ course: JoinCourse) throws -> [() -> Submission] {
    switch happening {
    case .contextOfOne: [act(post(.one, course))]
    case .contextOfOther: [act(post(.other, course))]
    case .completed: [act(completed(course))]
    case .subscription: [act(subscription(course))]
    case .customer: [act(customer(.one, .customerMetadata, course))]
    case .setup: [act(customer(.other, .ownKey, course))]
    case .claimByOne: claim(by: .one, course)
    case .claimByOther: claim(by: .other, course)
    case .erasure: try erasure(of: course.model.shape.erased, course)
    case .sending: []
    case .answer: answer(course)
    }
  }

  private func act(_ command: some StoreCommand) -> () -> Submission { { Submission(command) { _ in } } }

  private func post(_ party: JoinParty, _ course: JoinCourse) -> IngestContext {
    store.contextCommand(
      "blob_\(party)_\(course.n)", user: course.user(party), price: "price_1", id: course.contexts[party])
  }

  private func completed(_ course: JoinCourse) -> IngestEvent {
    let reference: String? =
      switch course.model.shape.reference {
      case .nothing: nil
      case .contextOfOne: course.contexts[.one]?.text
      case .userOne: course.user(.one).text
      }
    let said = Said.completed(course.n, user: reference, prices: ["price_1"])
    return event("completed", .report(said, keep: true), naming: reference, course)
  }

  private func subscription(_ course: JoinCourse) -> IngestEvent {
    guard course.model.shape.subscription == .named else {
      return event("subscription", .report(Said.created(course.n), keep: true), naming: nil, course)
    }
    let user = course.user(.other)
    var said = Said.invoice(course.n)
    said.names = [NamedUser(id: user, source: .ownKeyOfInvoice, standing: .counts)]
    return event("subscription", .report(said, keep: true), naming: user.text, course)
  }

  private func customer(
    _ party: JoinParty, _ source: Purchase.UserSource, _ course: JoinCourse
  ) -> IngestEvent {
    let customer = CustomerID("cus_\(course.n)")
    let facts = CustomerFacts(
      customerID: customer,
      names: [NamedUser(id: course.user(party), source: source, standing: .counts)],
      areOfCustomer: source.isOfCustomersMetadata, happenedAt: TestStore.start)
    var command = event("customer_\(party)", .customer(facts), naming: nil, course)
    command.mentions.add(id: customer.text)
    return command
  }

  private func event(
    _ name: String, _ content: IngestEvent.Content, naming user: String?, _ course: JoinCourse
  ) -> IngestEvent {
    let body: JSONValue = ["metadata": ["ply_user_id": .optional(user)]]
    return IngestEvent(
      app: "ios", processor: "stripe", eventID: EventID("evt_\(name)_\(course.n)"), type: name,
      body: body.serialized(), content: content)
  }

  private func claim(by party: JoinParty, _ course: JoinCourse) -> [() -> Submission] {
    guard let token = course.token.withLock(\.self) else { return [] }
    return [act(UseClaim(token, app: "ios", userID: course.user(party)))]
  }

  /// The commands of `receiptctl users forget --cancel-open`, in its order.
  private func erasure(of party: JoinParty, _ course: JoinCourse) throws -> [() -> Submission] {
    let user = course.user(party)
    let purchases = try store.reader.purchases(ofUser: user, limit: 10)
    var names = UserIdentifiers()
    names.users = [user]
    for purchase in purchases {
      names.add(purchase.objectID)
      names.add(purchase.sessionID)
      names.add(purchase.customerID)
    }
    for (_, customer) in try store.reader.learnedCustomers(ofUser: user, limit: 10) { names.add(customer) }
    for (_, id) in try store.reader.contextIDs(ofUser: user) { names.add(id) }
    return [
      act(ForgetIdentifiers(names, app: "ios")),
      act(ForgetPurchases(rows: purchases.map(\.row), cancelsOpen: true)),
    ] + ForgetUserRows.Table.allCases.map { act(ForgetUserRows($0, app: "ios", userID: user)) }
  }

  private func answer(_ course: JoinCourse) -> [() -> Submission] {
    guard let (id, body) = course.wire else { return [] }
    let now = store.now
    var isRepeat = false
    return [
      {
        var record = RecordAttempt(
          of: id, app: "ios", sent: body, report: AttemptReport(at: now),
          decision: .delivered(importID: "imp"))
        record.isRepeat = isRepeat
        isRepeat = true
        return Submission(record) { _ in }
      }
    ]
  }
}
