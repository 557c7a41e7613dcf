// Damaged files, full disks, deleted users, and the functions with completion handlers.

import Foundation
import Testing

@testable import CheckoutKit

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct OutboxFaultTests {
  @Test func `Damaged and foreign files are not posted, and stop nothing`() async throws {
    let bed = try OutboxBed()
    let good = try await bed.begin().contextID
    let bad = CheckoutID.make()
    let file = bed.folder.appendingPathComponent("\(good).json")
    let whole = try Data(contentsOf: file)
    let files: [(name: String, content: Data)] = [
      ("\(bad).json", Data("{".utf8)), ("\(CheckoutID.make()).json", whole),
      ("\(CheckoutID.make()).json", Data(repeating: 0x20, count: 1 << 20)), ("other.json", whole),
      ("..json", Data()), ("notes.txt", Data("x".utf8)),
    ]
    for (name, content) in files { try content.write(to: bed.folder.appendingPathComponent(name)) }
    try FileManager.default.createDirectory(
      at: bed.folder.appendingPathComponent("\(CheckoutID.make()).json"), withIntermediateDirectories: false)
    try bed.relaunch()
    #expect(bed.outbox.pendingContextIDs == [good])
    let left = try FileManager.default.contentsOfDirectory(atPath: bed.folder.path)
    #expect(Set(left).isSuperset(of: ["\(good).json", "other.json", "notes.txt"]), "others' files stay")
    #expect(!left.contains("\(bad).json"))
  }

  @Test("A sale goes on when the disk cannot be written, and the context is posted while the app runs")
  func unwritable() async throws {
    let bed = try OutboxBed()
    // A file is where the folder would be.
    try Data().write(to: bed.folder)
    let checkout = try await bed.begin()
    #expect(checkout.page.absoluteString.hasSuffix(checkout.contextID))
    #expect(bed.outcomes.withLock(\.self).map(\.summary).contains("not stored \(checkout.contextID)"))
    bed.transport.add(OutboxBed.posted(checkout.contextID))
    #expect(await bed.outbox.flush() == 0)
    #expect(try bed.bodies().last?["id"] == checkout.contextID)
  }

  @Test func `A deleted user's contexts are deleted, and only those`() async throws {
    let bed = try OutboxBed()
    _ = try await bed.begin("é")
    let other = try await bed.begin("e\u{301}").contextID
    bed.outbox.forget(userID: "é")
    #expect(try bed.stored() == [other])
    #expect(bed.outbox.pendingContextIDs == [other])
  }

  @Test func `Without a page the relay is needed: its error is thrown, and nothing waits`() async throws {
    let bed = try OutboxBed([.answer(422, "no page")], hasPages: false)
    let error = await #expect(throws: RelayError.self) { try await bed.begin() }
    #expect(error?.status == 422)
    #expect(bed.transport.sent.first?.url?.path == "/v1/ios/users/jdo-1/checkout")
    #expect(try bed.stored() == [])
    bed.transport.add(.answer(201, Example.posted(checkout: "https://buy.example.com/b")))
    #expect(try await bed.begin().page.absoluteString == "https://buy.example.com/b")
  }

  @Test func `Values that no relay accepts are reported before a page is opened`() async throws {
    let bed = try OutboxBed()
    await #expect(throws: RelayError.self) { try await bed.begin("") }
    let large = WebCheckoutContext(
      presentationID: String(repeating: "x", count: 1 << 15), stripePriceID: "price_1")
    await #expect(throws: RelayError.self) { try await bed.outbox.begin(large, userID: "u") }
    #expect(try bed.stored() == [])
    #expect(bed.transport.sent.isEmpty)
  }

  @Test(arguments: try KitTables.links().pages)
  func `A page gets the id once, wherever its query ends`(_ row: KitTables.Page) throws {
    #expect(CheckoutOutbox.page(try url(row.url), of: "ID")?.absoluteString == row.opened)
  }

  @Test func `The first attempt has five seconds, and the others have thirty`() async throws {
    let transport = ScriptedTransport(
      ScriptedTransport.offline, ScriptedTransport.offline, .answer(201, Example.posted()))
    try await Example.client(transport).post()
    #expect(transport.sent.map(\.timeoutInterval) == [5, 30, 30])
  }

  @Test func `An id that the relay would refuse is not sent`() async throws {
    let transport = ScriptedTransport()
    await #expect(throws: RelayError.self) {
      try await Example.client(transport).post(Example.context, userID: "u", id: "ctx_1")
    }
    #expect(transport.sent.isEmpty)
  }
}

@Suite @MainActor struct CompletionHandlerTests {
  @Test func `A completion handler is called once, on the main actor, with the result`() async throws {
    let client = try Example.client(
      ScriptedTransport(
        .answer(201, Example.posted(checkout: "https://buy.example.com/a")), .answer(200, Example.posted()),
        .answer(200, Example.status("open")), .answer(200, Example.status("delivered"))))
    let results = AsyncStream.makeStream(of: String.self)
    let say: @MainActor @Sendable (String) -> Void = { text in
      MainActor.assertIsolated()
      results.continuation.yield(text)
    }
    var next = results.stream.makeAsyncIterator()
    client.checkout(Example.context, userID: "u") { say("\((try? $0.get())?.checkoutURL?.path ?? "-")") }
    #expect(await next.next() == "/a")
    client.post(Example.context, userID: "u") { say("\((try? $0.get())?.isRepeat == true)") }
    #expect(await next.next() == "true")
    client.status(of: Example.id) { say((try? $0.get())?.state.rawValue ?? "-") }
    #expect(await next.next() == "open")
    client.finalStatus(of: Example.id) { say((try? $0.get())?.state.rawValue ?? "-") }
    #expect(await next.next() == "delivered")

    let bed = try OutboxBed()
    bed.outbox.begin(Example.context, userID: "u") { say("\((try? $0.get())?.posted == nil)") }
    #expect(await next.next() == "true")
    bed.outbox.flush { say("\($0)") }
    #expect(await next.next() == "1")
  }

  @Test func `A cancelled call ends with that error`() async throws {
    let began = AsyncStream.makeStream(of: Void.self)
    let client = try Example.client(ScriptedTransport([.silence]) { _ in began.continuation.yield() })
    let results = AsyncStream.makeStream(of: RelayError?.self)
    let call = client.status(of: Example.id) { result in
      if case .failure(let error) = result { results.continuation.yield(error) }
    }
    for await _ in began.stream { break }
    call.cancel()
    var next = results.stream.makeAsyncIterator()
    #expect(await next.next() == .some(.cancelled))
  }
}
