// Rate limits of contexts, with a manual clock.

import Domain
import Formats
import Store
import Testing

@testable import Config
@testable import HTTPServer

@Suite("Limits of contexts") struct ContextLimitTests {
  private final class Bed {
    let clock = ManualClock()
    let bench: Bench
    let server: Server

    init(perUser: RateLimit?, perAddress: RateLimit?) throws {
      bench = try Bench([Bench.app(), Bench.app("other")], clock: clock, isStarted: false)
      try bench.startHousekeeping()
      server = try bench.serve(limits: .init(contextsPerUser: perUser, contextsPerAddress: perAddress))
    }

    deinit { server.stop(grace: .seconds(5)) }

    func post(_ user: String, app: String = "shop", from address: String? = nil) throws -> RawClient.Reply {
      let client = try RawClient(port: server.port)
      let field = address.map { "X-Forwarded-For: \($0)\r\n" } ?? ""
      try client.post("/v1/\(app)/contexts", #"{"ply_context":"YQ==","user_id":"\#(user)"}"#, field)
      return try client.reply()
    }
  }

  @Test("Beyond a user's limit posts are 429 with Retry-After; repeats count, other users do not")
  func perUser() throws {
    let bed = try Bed(perUser: RateLimit(3, per: .minute), perAddress: nil)
    #expect(try (1...3).map { _ in try bed.post("u-1").status } == [201, 200, 200])
    let reply = try bed.post("u-1")
    #expect(reply.status == 429)
    #expect(reply.header("Retry-After") == "20")
    #expect(try JSONValue(parsing: reply.body)["type"] == "urn:receiptd:problem:too-many-contexts")
    #expect(try bed.post("u-2").status == 201)
    #expect(try bed.post("u-1", app: "other").status == 201)
    bed.clock.advance(.milliseconds(19_500))
    #expect(try bed.post("u-1").header("Retry-After") == "1")
    bed.clock.advance(.milliseconds(500))
    #expect(try bed.post("u-1").status == 200)
    #expect(bed.bench.metricsText.contains(#"receiptd_contexts_total{app="shop",result="limited"} 2"#))
  }

  @Test("Beyond an address's limit posts for any user are refused; local requests do not count")
  func perAddress() throws {
    let bed = try Bed(perUser: nil, perAddress: RateLimit(2, per: .hour))
    for number in 1...2 {
      #expect(try bed.post("u-\(number)", from: "192.0.2.1").status == 201)
      #expect(try bed.post("u-\(number)", app: "other", from: "2001:db8::\(number)").status == 201)
    }
    // The addresses to the left of the last one may be forged.
    let reply = try bed.post("u-3", from: "198.51.100.7, 192.0.2.1")
    #expect(reply.status == 429)
    #expect(reply.header("Retry-After") == "1800")
    #expect(try bed.post("u-3", app: "other", from: "192.0.2.1").status == 429)
    // Logged at most once a second per app, without the user or address.
    let lines = bed.bench.logText.split(separator: "\n").filter { $0.contains("set listen.proxies") }
    #expect(lines.count == 2)
    #expect(lines.allSatisfy { $0.contains("address") })
    #expect(!lines.contains { $0.contains("u-3") || $0.contains("192.0.2") })
    #expect(try bed.post("u-3", from: "2001:db8::ffff").status == 429)
    #expect(try bed.post("u-3", from: "2001:db8:0:1::1").status == 201)
    for number in 10...20 { #expect(try bed.post("u-\(number)").status == 201) }
    let users = try bed.bench.reader.contexts(ContextFilter(), now: bed.bench.now, limit: 100).map(\.userID)
    #expect(users.filter { $0 == "u-3" }.count == 1)
  }
}
