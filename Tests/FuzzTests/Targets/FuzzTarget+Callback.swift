// The queries of payment URLs and of the page that leads back to them.

import Formats

extension FuzzTarget {
  /// A query, for both callbacks and for the trampoline page.
  static let callback = FuzzTarget("callback", bytesMax: 4096) { bytes in
    // Invalid UTF-8 is refused earlier.
    guard let query = String(validating: bytes, as: UTF8.self) else { return }
    let origin = try WebOrigin("https://pay.example.com")
    if let target = try? CallbackTarget("\(callbacks)ios-universal-link?\(query)") {
      try hold(target.text == "\(callbacks)ios-universal-link?\(query)", "the target was changed")
      try checkIOS(target, origin)
    }
    if let target = try? CallbackTarget("\(callbacks)android-intent?\(query)"),
      let url = try? AndroidPaymentURL(target, origin: origin, packages: nil)
    {
      let parts = url.intent.text.split(separator: "#", omittingEmptySubsequences: false)
      try hold(parts.count == 2 && parts[0] == "intent://pay.example.com\(target.text)", "another address")
      let fields = parts[1].split(separator: ";", omittingEmptySubsequences: false).map {
        $0.prefix { $0 != "=" }
      }
      try hold(fields == ["Intent", "scheme", "action", "package", "end", ""], "the fields \(fields)")
    }
    if let back = try? backLink(query, origin) { try checkBack(back, query) }
  }

  private static let callbacks = "/v1/shop/swedbank/sdk-callback/"
  private static let page = "https://back.example.net/v1/shop/trampoline"

  private static func backLink(_ query: String, _ origin: WebOrigin) throws(CallbackFault) -> BackLink {
    let request = try CallbackTarget(
      "/v1/shop/trampoline?\(query)", byteCountMax: BackLink.targetByteCountMax)
    return try BackLink(request, origin: origin, root: callbacks)
  }

  private static func checkIOS(_ target: CallbackTarget, _ origin: WebOrigin) throws {
    guard let url = try? IOSPaymentURL(target, origin: origin, schemes: nil) else { return }
    let location = url.location(trampoline: page)
    let isWritable = location.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"<>#".utf8.contains($0) }
    try hold(isWritable, "a redirect that leaves its place: \(location)")
    guard location.hasPrefix("\(page)?target=") else {
      let scheme = String(location.prefix { $0 != ":" })
      try hold(location == "\(scheme)://pay.example.com\(target.text)", "another address: \(location)")
      return try hold((try? CustomScheme(scheme)) != nil, "the scheme \(scheme)")
    }
    // The page accepts the query, and its button's link leads on into the app.
    let back = try backLink(String(location.dropFirst("\(page)?".count)), origin)
    let again = try IOSPaymentURL(try CallbackTarget(back.target), origin: origin, schemes: nil)
    let last = again.location(trampoline: page)
    try hold(last.hasSuffix("://pay.example.com\(back.target)"), "a way without an end: \(last)")
  }

  private static func checkBack(_ back: BackLink, _ query: String) throws {
    let isCallback = ["ios-universal-link", "android-intent"].contains {
      back.target == callbacks + $0 || back.target.hasPrefix("\(callbacks)\($0)?")
    }
    let isWritable = back.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"<>#".utf8.contains($0) }
    try hold(isCallback && isWritable, "a page that leads to \(back.target)")
  }
}
