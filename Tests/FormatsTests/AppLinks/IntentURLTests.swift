// `intent:` URLs: their format, and input that is refused.

import Testing

@testable import Formats

struct IntentURLTests {
  private let package: PackageName

  init() throws { package = try PackageName("your.ecom.app") }

  /// SC01 and SC02: the target is copied byte for byte, in the format of Swedbank Pay's helpers.
  @Test(arguments: [
    "/v1/ios/swedbank/sdk-callback/android-intent?package=your.ecom.app&id=abb50c53-53c1-4138",
    "/v1/ios/swedbank/sdk-callback/android-intent?id=1&foo=b%20r%2B+%e2&package=your.ecom.app",
    "/a?b={}|^';`\\",
  ])
  func `An intent URL has the unchanged target`(target: String) throws {
    let intent = try #require(
      try IntentURL(
        origin: WebOrigin("https://pay.example.com"), target: target, package: package,
        action: "com.swedbankpay.mobilesdk.VIEW_PAYMENTORDER", endsWithSemicolon: true))
    #expect(
      intent.text == "intent://pay.example.com\(target)#Intent;scheme=https;"
        + "action=com.swedbankpay.mobilesdk.VIEW_PAYMENTORDER;package=your.ecom.app;end;")
  }

  @Test func `Any fallback is one value`() throws {
    let intent = try #require(
      try IntentURL(
        origin: WebOrigin("http://127.0.0.1:8080"), target: "/v1/ios/return?context_id=ctx_1",
        package: package, action: "a;component=x#b",
        fallback: "https://pay.example.com/a?b=c d&e=;S.x=1#f%é"))
    #expect(
      intent.text == "intent://127.0.0.1:8080/v1/ios/return?context_id=ctx_1#Intent;scheme=http;"
        + "action=a%3Bcomponent%3Dx%23b;package=your.ecom.app;S.browser_fallback_url="
        + "https%3A%2F%2Fpay.example.com%2Fa%3Fb%3Dc%20d%26e%3D%3BS.x%3D1%23f%25%C3%A9;end")
  }

  /// SC05: input that would end the attribute or the data is refused.
  @Test(arguments: [
    "", "a", "/a#Intent;component=x;end", "/a b", "/a\"><script>", "/a\r\nX: y", "/é", "/\u{0}",
    "/" + String(repeating: "a", count: 8_192),
  ])
  func `A value that could leave its field makes no intent URL`(target: String) throws {
    let origin = try WebOrigin("https://pay.example.com")
    #expect(IntentURL(origin: origin, target: target, package: package) == nil)
  }
}
