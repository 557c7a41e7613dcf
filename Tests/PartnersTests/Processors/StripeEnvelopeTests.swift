// The envelope: fields that every event has, which events are accepted, and bytes that are not an event.

import Domain
import Formats
import Partners
import Testing

private let completed: JSONValue = "checkout.session.completed"

@Suite("Stripe's envelopes")
struct StripeEnvelopeTests {
  @Test(arguments: [
    "payment_intent.succeeded", "charge.succeeded", "customer.deleted", "account.updated",
    "invoiceitem.created", "invoice_payment.paid", "checkout.sessions", "customer.subscription", "ping",
    "x",
    "v1.checkout.session.completed", "v2.core.event_destination.ping",
  ])
  func `Events that say nothing about a purchase are ignored`(type: String) throws {
    let reading = try read(event(.string(type), paidSession))
    #expect(reading.content == .nothing(.ignored))
    #expect(reading.type == type)
    #expect(reading.id == "evt_1")
  }

  @Test func `A thin event has its time as text and no object, and cannot be read without a key`() throws {
    let reading = try read(bytes: PackageResources.thin_session_completed_json)
    #expect(
      reading
        == EventReading(
          id: "evt_relaythin", type: "v1.checkout.session.completed", content: .nothing(.unparsed)))
  }

  @Test func `A ping has a null object and is ignored`() throws {
    let reading = try read(bytes: PackageResources.ping_2017_json)
    #expect(reading == EventReading(id: "evt_relayping", type: "ping", content: .nothing(.ignored)))
  }

  @Test func `A body that is not a JSON object is unparsed and has no id`() throws {
    let bodies: [[UInt8]] = [
      [], Array("null".utf8), Array("[]".utf8), Array("7".utf8), Array("\"evt\"".utf8), Array("{".utf8),
      Array("{}{}".utf8), Array("{'id':'evt_1'}".utf8), Array("<xml/>".utf8), [0xFF, 0xFE, 0xFD], [0],
      Array(repeating: UInt8(ascii: "["), count: 100_000),
    ]
    for body in bodies {
      let reading = try read(bytes: body)
      #expect(reading == EventReading(id: nil, type: "", content: .nothing(.unparsed)), "\(body.prefix(12))")
    }
  }

  @Test(
    "An event that cannot be read names the field, and whether a payment may be lost",
    arguments: [
      ("{", "body", true), (#"{"id":"evt_1"}"#, "type", true),
      (#"{"type":"checkout.session.completed"}"#, "data.object.id", true),
      (
        #"{"type":"checkout.session.completed","data":{"object":{"id":"cs_1","mode":"x"}}}"#,
        "data.object.mode", true
      ),
      (
        #"{"type":"checkout.session.completed","data":{"object":{"id":"cs_1","mode":"payment"}}}"#,
        "data.object.payment_status", true
      ),
      (#"{"type":"invoice.paid"}"#, "data.object", true),
      (#"{"type":"checkout.session.expired"}"#, "data.object.id", false),
      (#"{"type":"customer.subscription.deleted","data":{}}"#, "data.object.id", false),
    ])
  func unreadable(body: String, field: String, maySell: Bool) throws {
    let fault = StripeProcessor.unreadable(in: Array(body.utf8))
    #expect(fault == ReadingFault(field: field, maySell: maySell))
    #expect(try read(bytes: Array(body.utf8)).content == .nothing(.unparsed))
    #expect(StripeProcessor.unreadable(in: Array(#"{"type":"ping"}"#.utf8)) == nil)
  }

  @Test func `An object without a type is unparsed and keeps its id`() throws {
    for type in [JSONValue.null, "", 7, [:]] {
      let reading = try read(event(type, paidSession))
      #expect(reading == EventReading(id: "evt_1", type: "", content: .nothing(.unparsed)))
    }
    #expect(try read([:]) == EventReading(id: nil, type: "", content: .nothing(.unparsed)))
  }

  @Test(arguments: ["", 7, .null, "evt\n1"] as [JSONValue])
  func `An id that cannot be stored counts as missing`(id: JSONValue) throws {
    let reading = try read(event(completed, paidSession, [("id", id)]))
    #expect(reading.id == nil)
    #expect(try report(event(completed, paidSession, [("id", id)])).key == subscription("sub_1"))
  }

  @Test func `Ids of 255 bytes are read, longer ones are not`() throws {
    let longest = String(repeating: "x", count: 255)
    let body = event(completed, object(paidSession, ("subscription", .string(longest))))
    #expect(try report(body).key.id.text == longest)
    let tooLong = event(completed, object(paidSession, ("id", .string(longest + "x"))))
    #expect(try outcome(tooLong) == .unparsed)
  }

  @Test func `Live and test events are distinguished, and an event without the mark counts as both`() throws {
    let rows: [(StripeSettings.Livemode, JSONValue, Bool)] = [
      (.any, true, true), (.any, false, true), (.any, .null, true), (.live, true, true),
      (.live, false, false),
      (.live, .null, true), (.test, true, false), (.test, false, true), (.test, "true", true),
    ]
    for (mode, said, counts) in rows {
      let settings = StripeSettings(livemode: mode)
      let body = event(completed, object(paidSession, ("livemode", true)), [("livemode", said)])
      #expect(try outcome(body, settings) == (counts ? nil : .otherMode), "\(mode) \(said.text)")
    }
  }

  @Test func `Events of connected accounts count only as far as the configuration says`() throws {
    let rows: [(StripeSettings.Accounts, JSONValue?, Bool)] = [
      (.own, nil, true), (.own, .null, true), (.own, "acct_1", false), (.any, nil, true),
      (.any, "acct_1", true),
      (.ownAnd(["acct_1"]), "acct_1", true), (.ownAnd(["acct_1"]), "acct_2", false), (.ownAnd([]), nil, true),
    ]
    for (accounts, said, counts) in rows {
      let settings = StripeSettings(accounts: accounts)
      let body = event(completed, paidSession, said.map { [("account", $0)] } ?? [])
      #expect(try outcome(body, settings) == (counts ? nil : .otherAccount), "\(accounts)")
    }
  }

  @Test("An event happened within the second that it names and not later than now; without one it is now")
  func time() throws {
    let rows: [(JSONValue, Timestamp)] = [
      (1_700_000_000, happenedAt), (0, endOf(second: 0)), (-1, endOf(second: -1)),
      (.integer(.min), Timestamp(unixMilliseconds: .min + 999)),
      (1_799_999_999, endOf(second: 1_799_999_999)),
      (1_800_000_000, readAt), (1_800_000_001, readAt), (.integer(.max), readAt), (.null, readAt),
      ("1700000000", readAt),
      (.number(1e300), readAt),
    ]
    for (created, moment) in rows {
      #expect(try report(event(completed, paidSession, [("created", created)])).happenedAt == moment)
    }
  }

  @Test func `One invalid field does not make the others unreadable`() throws {
    let whole = try report(event(completed, paidSession))
    let names = [
      "customer", "line_items", "display_items", "metadata", "plan", "items", "lines", "parent",
      "billing_reason",
      "subscription_details", "unknown",
    ]
    for name in names {
      for value in [JSONValue.null, 7, true, [7], "", [[]], ["id": 7], ["data": [7]]] {
        let said = try report(event(completed, object(paidSession, (name, value))))
        #expect(said.key == whole.key, "\(name)=\(value.text)")
        #expect(said.observations == whole.observations, "\(name)=\(value.text)")
        #expect(said.clientReference == "u1")
        #expect(said.happenedAt == whole.happenedAt)
      }
    }
  }

  @Test func `Pretty-printed and compact text are read the same`() throws {
    let body = event(completed, paidSession)
    #expect(try read(bytes: Array(body.prettyText.utf8)) == read(bytes: body.serialized()))
  }
}
