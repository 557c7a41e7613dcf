// Which texts are a `ply_context`. It is stored and forwarded unchanged, so only valid base64 is accepted.

import Domain
import Formats
import Partners
import Testing

private func base64(_ bytes: [UInt8]) -> String { Base64.encode(bytes) }

private func base64(_ text: String) -> String { base64(Array(text.utf8)) }

private func withoutPadding(_ text: String) -> String { String(text.prefix { $0 != "=" }) }

private func urlSafe(_ text: String) -> String {
  text.replacing("+", with: "-").replacing("/", with: "_")
}

private func fault(_ text: String) -> PlyContext.Fault? {
  do throws(PlyContext.Fault) {
    _ = try PlyContext.read(text)
    return nil
  } catch {
    return error
  }
}

@Suite("ply_context")
struct PlyContextTests {
  @Test func `The price of the SDK's JSON is read, and the blob is stored unchanged`() throws {
    let blob = base64(
      #"{"original_platform":"IOS","stripe_price_id":"stripe.monthly_premium_123","#
        + #""stripe_object_type":"subscription","presentation_id":"pres_1"}"#)
    #expect(try PlyContext.read(blob) == ContextBlob(text: blob, priceID: "stripe.monthly_premium_123"))
  }

  @Test(arguments: 1...9)
  func `Both alphabets are read, padded or not, and none is rewritten`(count: Int) throws {
    // All bits set: the text consists of the characters in which the alphabets differ.
    for bytes in [[UInt8](repeating: 0xFF, count: count), [UInt8](repeating: 0xFB, count: count)] {
      let standard = base64(bytes)
      for text in [standard, urlSafe(standard), withoutPadding(standard), urlSafe(withoutPadding(standard))] {
        #expect(try PlyContext.read(text) == ContextBlob(text: text, priceID: nil))
      }
    }
    let priced = #"{"stripe_price_id":"price_ÿ>?\#(String(repeating: "ÿ", count: count))"}"#
    for text in [base64(priced), urlSafe(base64(priced)), withoutPadding(base64(priced))] {
      #expect(try PlyContext.read(text).priceID?.text == "price_ÿ>?" + String(repeating: "ÿ", count: count))
    }
  }

  @Test(arguments: [16_383, 16_384, 16_385, 16_386])
  func `1 byte to 16 KiB is accepted, one byte more is refused`(count: Int) throws {
    #expect(try PlyContext.read("AA==").text == "AA==")
    #expect(try PlyContext.read("AA").text == "AA")
    let blob = base64([UInt8](repeating: 7, count: count))
    let expected: PlyContext.Fault? = count > 16_384 ? .tooLong : nil
    #expect(fault(blob) == expected)
    #expect(fault(withoutPadding(blob)) == expected)
  }

  @Test func `A blob that is far too long is refused before it is decoded`() {
    let faults = ["A", "!", "="].map { fault(String(repeating: $0, count: 1_000_000)) }
    #expect(faults == [.tooLong, .tooLong, .tooLong])
  }

  @Test func `An empty text is not a context`() {
    #expect(fault("") == .empty)
  }

  @Test(arguments: [
    "=", "==", "===", "====", "A", "A=", "A==", "A===", "AAAAA", "AA=A", "=AAA", "AA==AA==", "AA=", "AAA==",
    "AAAA=",
    "AAAA==", "AAAA====", "AAA=A", " AAAA", "AAAA ", "AA AA", "AAAA\n", "AA\nAA", "AAAA\r\n", "AAA\0", "\0",
    "AA\tAA",
    "AAA!", "AAA*", "AAA,", "AAA.", "AAA%", "AA%3D%3D", "AAA\u{7F}", "AAAé", "АААА", "ＡＡＡＡ", "AA\u{200B}AA",
    "{}", "🙂",
    "data:;base64,AAAA", "\"AAAA\"", "A\u{301}AAA",
  ])
  func `Junk in any position makes base64 invalid`(text: String) {
    #expect(fault(text) == .notBase64)
  }

  @Test func `Every byte outside of the alphabets is refused in every position`() {
    let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_".utf8)
    for byte in UInt8(0)..<128 {
      for position in 0..<8 {
        var bytes = Array("AAAAAAAA".utf8)
        bytes[position] = byte
        let isPadding = byte == UInt8(ascii: "=") && position == 7
        let expected: PlyContext.Fault? = allowed.contains(byte) || isPadding ? nil : .notBase64
        #expect(fault(String(decoding: bytes, as: UTF8.self)) == expected, "\(byte) at \(position)")
      }
    }
  }

  @Test(arguments: [
    "{}", "[]", "null", "not JSON", "{", "\"text\"", "7", #"{"stripe_price_id":null}"#,
    #"{"stripe_price_id":7}"#,
    #"{"stripe_price_id":["price_1"]}"#, #"{"stripe_price_id":{"id":"price_1"}}"#,
    #"{"stripe_price_id":""}"#,
    #"{"stripe_price_id":"a\nb"}"#, #"{"STRIPE_PRICE_ID":"price_1"}"#, #"{"price":"price_1"}"#,
    "\u{0}\u{1}",
  ])
  func `A blob without a price is a context`(text: String) throws {
    let blob = base64(text)
    #expect(try PlyContext.read(blob) == ContextBlob(text: blob, priceID: nil))
  }

  @Test func `Bytes that are not UTF-8 and JSON of any depth stay opaque`() throws {
    for bytes in [[0xFF, 0xFE, 0x00], [UInt8](repeating: UInt8(ascii: "["), count: 16_384)] as [[UInt8]] {
      let blob = base64(bytes)
      #expect(try PlyContext.read(blob) == ContextBlob(text: blob, priceID: nil))
    }
  }

  @Test func `A price is at most 255 bytes`() throws {
    let longest = String(repeating: "p", count: 255)
    #expect(try PlyContext.read(base64(#"{"stripe_price_id":"\#(longest)"}"#)).priceID?.text == longest)
    #expect(try PlyContext.read(base64(#"{"stripe_price_id":"\#(longest)p"}"#)).priceID == nil)
  }
}
