// Open checkouts are kept per user.

import CheckoutKit
import Foundation
import Testing

@Suite("Open checkouts") struct OpenCheckoutsTests {
  @Test func `Each user has the checkouts that this user began, the newest last`() {
    var checkouts = OpenCheckouts(["ctx_1"], of: "anna")
    checkouts.add("ctx_2", of: "ben")
    checkouts.add("ctx_3", of: "anna")
    checkouts.add("ctx_1", of: "anna")
    #expect(checkouts.ids(of: "anna") == ["ctx_3", "ctx_1"])
    #expect(checkouts.ids(of: "ben") == ["ctx_2"])
    #expect(checkouts.ids(of: "ANNA").isEmpty)
    checkouts.replace("ctx_2", by: "ctx_4")
    #expect(checkouts.ids(of: "ben") == ["ctx_4"])
    checkouts.remove("ctx_3")
    #expect(checkouts.ids(of: "anna") == ["ctx_1"])
    checkouts.forget(userID: "anna")
    #expect(checkouts.ids(of: "anna").isEmpty)
    #expect(checkouts.ids(of: "ben") == ["ctx_4"])
  }

  @Test func `A list is stored and read; anything else is an empty list`() {
    var checkouts = OpenCheckouts(["ctx_1", "ctx_2"], of: "anna")
    checkouts.add("ctx_3", of: "ben")
    #expect(OpenCheckouts(data: checkouts.data) == checkouts)
    for data in [nil, Data(), Data("[]".utf8), Data(#"["ctx_1"]"#.utf8)] {
      #expect(OpenCheckouts(data: data) == OpenCheckouts())
    }
  }

  @Test func `Users whose ids look the same are different users`() {
    let checkouts = OpenCheckouts(["ctx_1"], of: "e\u{301}")
    #expect(checkouts.ids(of: "\u{E9}").isEmpty)
  }
}
