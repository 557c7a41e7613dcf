// Tests the texts of notifications between programs. Pure: no database.

import Domain
import Store
import Testing

@testable import PostgresStore

@Suite("Notifications between instances")
struct InstanceNewsTests {
  private static var changes: StoreChanges {
    var changes = StoreChanges()
    changes.dueAt = ["ios": Timestamp(unixMilliseconds: 5), "web": Timestamp(unixMilliseconds: 6)]
    changes.replaysDueAt = ["ios": Timestamp(unixMilliseconds: 7)]
    changes.waitUntil = Timestamp(unixMilliseconds: 8)
    changes.hasJobs = true
    changes.contextIDs = ["c1", "c2"]
    changes.lookupsDueAt = [AppProcessor("ios", "stripe"): Timestamp(unixMilliseconds: 9)]
    return changes
  }

  @Test func `What is sent is what is read`() throws {
    let text = try #require(InstanceNews.text(Self.changes, from: -3))
    let read = InstanceNews.read(text)
    #expect(read.sender == -3)
    #expect(read.changes == Self.changes)
  }

  @Test func `Nothing is sent of a commit that concerns nobody else`() {
    #expect(InstanceNews.text(StoreChanges(), from: 1) == nil)
    var changes = StoreChanges()
    changes.orderedCaptures = [PurchaseRowID(1): AppProcessor("ios", "pay")]
    #expect(InstanceNews.text(changes, from: 1) == nil)
  }

  @Test func `Changes that do not fit into a notification mean that anything may have changed`() throws {
    var changes = StoreChanges()
    for number in 0..<1000 { changes.contextIDs.insert(ContextID("context-\(number)")) }
    let text = try #require(InstanceNews.text(changes, from: 1))
    #expect(text.utf8.count < 8000)
    #expect(InstanceNews.read(text).changes == nil)
    #expect(InstanceNews.read(text).sender == 1)
  }

  @Test func `A test of the notifications changes nothing; a text of another program means anything`() {
    #expect(InstanceNews.read(InstanceNews.test(from: 4)).changes?.isEmpty == true)
    for text in ["", "{", "[]", "17", "{\"due\":3}", "{\"from\":7,\"wait\":\"soon\"}"] {
      let read = InstanceNews.read(text)
      #expect(read.sender == nil)
      #expect(read.changes?.isEmpty ?? true)
    }
  }
}
