// Folders that are locked or shared, and the relay's clock.

import Foundation
import Testing

@testable import CheckoutKit

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct OutboxFolderTests {
  /// Makes a file unreadable, as before the first unlock of a device; the result makes it readable again.
  private static func lock(_ id: String, in bed: OutboxBed) throws -> () throws -> Void {
    let file = bed.folder.appendingPathComponent("\(id).json")
    let content = try Data(contentsOf: file)
    try FileManager.default.removeItem(at: file)
    // A link to itself: no user can read it, not even root.
    try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: file.path)
    return {
      try FileManager.default.removeItem(at: file)
      try content.write(to: file)
    }
  }

  @Test func `A context that cannot be read yet is posted when it can`() async throws {
    let bed = try OutboxBed()
    let (first, second) = (try await bed.begin().contextID, try await bed.begin("other").contextID)
    let unlock = try Self.lock(first, in: bed)
    try bed.relaunch()
    #expect(bed.outbox.pendingContextIDs == [second])
    bed.transport.add(OutboxBed.posted(second))
    #expect(await bed.outbox.flush() == 0)
    #expect(try bed.stored() == [first])
    try unlock()
    #expect(bed.outbox.pendingContextIDs == [first])
    bed.transport.add(OutboxBed.posted(first))
    #expect(await bed.outbox.flush() == 0)
    #expect(try bed.stored() == [])
  }

  @Test func `A user who was forgotten while the files were locked is not posted`() async throws {
    let bed = try OutboxBed()
    let (gone, other) = (try await bed.begin("gone").contextID, try await bed.begin("other").contextID)
    let unlock = try Self.lock(gone, in: bed)
    try bed.relaunch()
    bed.outbox.forget(userID: "gone")
    try unlock()
    #expect(bed.outbox.pendingContextIDs == [other])
    #expect(try bed.stored() == [other])
    // The user is back: the memory ends when everything was read.
    let back = try await bed.begin("gone").contextID
    #expect(await bed.outbox.flush() == 2)
    #expect(try bed.stored() == [other, back].sorted())
  }

  @Test("Two processes share a folder: each posts what the other stored, and not what the other posted")
  func shared() async throws {
    let bed = try OutboxBed()
    let app = bed.outbox
    bed.transport.add(.answer(201, Example.posted()))
    _ = try await bed.begin()
    #expect(await app.flush() == 0)
    try bed.relaunch()
    let appExtension = bed.outbox
    let first = try await appExtension.begin(Example.context, userID: "u").contextID
    bed.transport.add(OutboxBed.posted(first))
    #expect(await app.flush() == 0)
    #expect(bed.transport.sent.count == 3)
    #expect(await appExtension.flush() == 0)
    #expect(bed.transport.sent.count == 3)
    #expect(try bed.stored() == [])
  }

  @Test func `A folder that the system has deleted does not end the contexts in memory`() async throws {
    let bed = try OutboxBed()
    let id = try await bed.begin().contextID
    try FileManager.default.removeItem(at: bed.folder)
    bed.transport.add(OutboxBed.posted(id))
    #expect(await bed.outbox.flush() == 0)
    #expect(try bed.bodies().last?["id"] == id)
  }

  private static func refusal(at date: String) -> ScriptedTransport.Step {
    OutboxBed.problem(422, "context-id-time", headers: ["Date": date])
  }

  @Test("Ids have the relay's time, from its first answer on and also after a relaunch without a network")
  func clock() async throws {
    let clock = DatedClock()
    let wrong = clock.date
    // Two days ahead of the device.
    let bed = try OutboxBed(
      [Self.refusal(at: "Mon, 23 Nov 2026 10:00:00 GMT"), .answer(201, Example.posted())], clock: clock)
    let right = wrong + 2 * 86_400
    _ = try await bed.begin()
    for _ in 0..<2 {
      let id = try await bed.begin().contextID
      #expect(try abs(#require(CheckoutID.date(of: id)).timeIntervalSince(right)) < 1)
      try bed.relaunch()
    }
    // The device's clock was set.
    clock.pass(2 * 86_400)
    bed.transport.add(OutboxBed.problem(503, "busy", headers: ["Date": "Mon, 23 Nov 2026 10:00:05 GMT"]))
    _ = try await bed.begin()
    try bed.relaunch()
    let id = try await bed.begin().contextID
    #expect(try abs(#require(CheckoutID.date(of: id)).timeIntervalSince(clock.date)) < 1)
  }

  @Test("The time of an answer that is not the relay's is ignored, and so is a damaged file")
  func strangersTime() async throws {
    let clock = DatedClock()
    let headers = ["Date": "Mon, 23 Nov 2026 10:00:00 GMT", "Content-Type": "text/html"]
    let bed = try OutboxBed(
      [.answer(200, "<html>", headers: headers), .answer(403, "<html>", headers: headers)], clock: clock)
    for _ in 0..<2 { _ = try await bed.begin() }
    try Data("soon".utf8).write(to: bed.folder.appendingPathComponent(".clock"))
    try bed.relaunch()
    let id = try await bed.begin().contextID
    #expect(try abs(#require(CheckoutID.date(of: id)).timeIntervalSince(clock.date)) < 1)
  }

  @Test func `Without a page of the app's, a refused time costs no sale either`() async throws {
    let bed = try OutboxBed(
      [
        OutboxBed.problem(422, "context-id-time"),
        .answer(201, Example.posted(checkout: "https://buy.example.com/b")),
      ], hasPages: false)
    #expect(try await bed.begin().contextID == Example.id)
    #expect(try bed.bodies().map { $0["id"] == nil } == [false, true])
  }
}
