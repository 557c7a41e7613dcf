// The ids that the kit makes have the form that the relay accepts.

import Foundation
import Testing

@testable import CheckoutKit

@Suite struct CheckoutIDTests {
  @Test func `An id has 48 bits of time and 80 random bits, in the relay's alphabet`() throws {
    let ids = (0..<10_000).map { _ in CheckoutID.make() }
    #expect(Set(ids).count == ids.count)
    for id in ids.prefix(100) {
      #expect(id.wholeMatch(of: #/ctx_[0-7][0-9A-HJKMNP-TV-Z]{25}/#) != nil, "\(id)")
      #expect(CheckoutID.isWellFormed(id))
    }
    // Every random bit is set in some id and clear in another.
    let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
    for position in 14..<30 {
      let values = Set(ids.map { Array($0)[position] })
      #expect(values.count == alphabet.count, "character \(position)")
    }
  }

  @Test func `The time in an id is that of the tap, and later ids sort after earlier ones`() throws {
    let date = Date(timeIntervalSince1970: 1_795_255_200.123)
    #expect(CheckoutID.make(at: date).hasPrefix("ctx_01M7YRRTBV"))
    #expect(
      CheckoutID.date(of: CheckoutID.make(at: date)).map { abs($0.timeIntervalSince(date)) < 0.002 } == true)
    #expect(CheckoutID.make(at: date) < CheckoutID.make(at: date + 1))
    for strange in [-1, .infinity, 1e300, -.infinity, .nan] as [TimeInterval] {
      #expect(CheckoutID.isWellFormed(CheckoutID.make(at: Date(timeIntervalSince1970: strange))))
    }
  }

  @Test("An id has one form", arguments: try KitTables.relay().contextIds)
  func forms(_ row: KitTables.ContextID) { #expect(CheckoutID.isWellFormed(row.id) == row.isValid) }
}
