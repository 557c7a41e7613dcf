// The examples of RFC 7515, appendix A. Their claims name no audience, so the tests verify only the
// signatures.

import Cryptography
import Testing

@Suite("Published tokens") struct PublishedVectorTests {
  private static let claims =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

  struct Vector: Sendable, CustomTestStringConvertible {
    let name: String
    let header: String
    let signature: String
    let key: String

    var testDescription: String { name }
    var token: [UInt8] { Array("\(header).\(claims).\(signature)".utf8) }
  }

  static let vectors = [
    Vector(
      name: "A.1, HMAC SHA-256", header: "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9",
      signature: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
      key: #"""
        {"kty":"oct",
        "k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}
        """#),
    Vector(
      name: "A.2, RSASSA-PKCS1-v1_5 SHA-256", header: "eyJhbGciOiJSUzI1NiJ9",
      signature: "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7"
        + "AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4"
        + "BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K"
        + "0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqv"
        + "hJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
      key: #"{"kty":"RSA","e":"AQAB","n":""#
        + "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp"
        + "-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOW"
        + "vG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUs"
        + "LA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9k"
        + "G4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2"
        + "PAcDTW9gb54h4FRWyuXpoQ\"}"),
    Vector(
      name: "A.3, ECDSA P-256 SHA-256", header: "eyJhbGciOiJFUzI1NiJ9",
      signature: "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
      key: #"""
        {"kty":"EC","crv":"P-256",
        "x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}
        """#),
  ]

  private static let day: Int64 = 1_300_800_000
  private static let rules = TokenRules(issuer: "joe", audiences: ["relay"])

  private func refusal(_ token: [UInt8], _ keys: KeySet, now: Int64 = day) -> TokenRefusal? {
    do throws(TokenRefusal) {
      _ = try Self.rules.user(of: try SignedToken(parsing: token), keys: keys, now: .seconds(now))
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: vectors)
  func `Their signatures are valid with their own key, until they expire`(vector: Vector) throws {
    let keys = try KeySet(reading: Array(vector.key.utf8))
    #expect(keys.keys.count == 1)
    #expect(keys.flaws.isEmpty)
    #expect(refusal(vector.token, keys) == .audience)
    #expect(refusal(vector.token, keys, now: 1_300_819_439) == .audience)
    #expect(refusal(vector.token, keys, now: 1_300_819_440) == .expired)
  }

  @Test(arguments: vectors)
  func `With any other key or a changed bit they are invalid`(vector: Vector) throws {
    for other in Self.vectors where other.name != vector.name {
      let keys = try KeySet(reading: Array(other.key.utf8))
      #expect(refusal(vector.token, keys) == .unknownKey)
    }
    let keys = try KeySet(reading: Array(vector.key.utf8))
    for (index, byte) in vector.token.enumerated() {
      var token = vector.token
      token[index] = byte == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(refusal(token, keys) != .audience, "byte \(index)")
    }
  }
}
