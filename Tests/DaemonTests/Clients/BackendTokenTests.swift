// Tokens at a merchant backend.

import Formats
import Store
import TestSupport
import Testing

@Suite("A merchant backend and tokens")
struct BackendTokenTests {
  @Test func `A token is for its own user, whom the request need not name`() throws {
    let folder = try TestFolder()
    let file = try folder.write(try TokenAccessTests.issuer.get().jwk().text, to: "keys.json")
    let bed = try ToyBed(
      client: "client: { jwt: { issuer: 'https://id/', audience: 'relay', keys: 'file:\(file)' } }")
    let token = "Authorization: Bearer \(try TokenAccessTests.token("u1"))\r\n"
    #expect(try bed.send("POST", "/v1/shop/toy/orders", "gold", token).reply().status == 201)
    #expect(try bed.stored("o1") != nil)
    #expect(try bed.send("POST", "/v1/shop/users/u1/toy/orders", "gold", token).reply().status == 201)
    let foreign = try bed.send("POST", "/v1/shop/users/u2/toy/orders", "gold", token).reply()
    #expect(foreign.text == "wrong-user 403")
    let unsigned = "Authorization: Bearer a.b.c\r\n"
    #expect(try bed.send("POST", "/v1/shop/toy/orders", "gold", unsigned).reply().text == "invalid-token 401")
    #expect(bed.calls.count == 2)
  }
}
