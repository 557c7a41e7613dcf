// Which stored reload report answers a request, and what `receiptctl reload` reports without a receiptd.

import Domain
import Platform
import Store
import Terminal
import Testing

@testable import CLI
@testable import Service

@Suite struct ReloadTests {
  /// A report in the format that receiptd stores.
  private func report(began: Int64, at: Int64 = 1000) throws -> ServiceReport {
    let content = #"{"result":"applied","generation":2,"began_ns":\#(began)}"#
    return ServiceReport(name: .reload, at: Timestamp(unixMilliseconds: at), content: content)
  }

  @Test("A reload that began before the request does not answer it, because it may have read the old file")
  func earlierReload() throws {
    let harness = try OperatorHarness()
    let reader = try harness.reader()
    let asked = MonotonicInstant(nanoseconds: 500)
    #expect(try ReloadCommand.answer(reader, unlike: nil, askedAt: asked) == nil)
    _ = try harness.writer.apply(SaveServiceReport(report(began: 499)), now: harness.clock.now)
    #expect(try ReloadCommand.answer(reader, unlike: nil, askedAt: asked) == nil)
    _ = try harness.writer.apply(SaveServiceReport(report(began: 500)), now: harness.clock.now)
    #expect(try ReloadCommand.answer(reader, unlike: nil, askedAt: asked)?.generation == 2)
  }

  @Test func `A result from before a reboot does not answer a request, although its clock is ahead`() throws {
    let harness = try OperatorHarness()
    let old = try report(began: 9_000_000)
    _ = try harness.writer.apply(SaveServiceReport(old), now: harness.clock.now)
    let asked = MonotonicInstant(nanoseconds: 500)
    #expect(try ReloadCommand.answer(try harness.reader(), unlike: old, askedAt: asked) == nil)
  }

  @Test func `Without a receiptd there is nothing to reload`() throws {
    let ran = try OperatorHarness().run("reload")
    #expect(ran.code == .unavailable)
    #expect(ran.notes.contains("no receiptd serves FOLDER/receiptd.db"))
    #expect(ran.notes.contains("If \"database\" was changed, restart receiptd"))
    let named = try OperatorHarness().run("reload", "--database", "/nowhere/receiptd.db")
    #expect(named.code == .unavailable)
    #expect(named.notes.contains("no receiptd serves /nowhere/receiptd.db, or"))
    #expect(!named.notes.contains("was changed"))
  }

  @Test func `A process that does not serve the database is not signalled`() throws {
    let ran = try OperatorHarness().run("reload", "--process", "1")
    #expect(ran.code == .unavailable)
    #expect(ran.notes.contains("receiptd (process 1) does not serve FOLDER/receiptd.db"))
    #expect(try OperatorHarness().run("reload", "--process", "0").code == .usage)
  }
}
