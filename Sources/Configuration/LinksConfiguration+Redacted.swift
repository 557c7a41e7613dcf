// An app's links in force, as `receiptctl config show` prints them. Pure; any thread.

internal import AppLinks
internal import JSON

extension AppConfiguration.Links {
  /// The keys of the file; values in a URL's query are redacted (`RedactedURL`).
  var redacted: JSONValue {
    var value: JSONValue = ["origin": .string(origin.text)]
    if let ios { value = value.adding("ios", ios.redacted) }
    if let android { value = value.adding("android", ["packages": .array(android.packages.map(\.redacted))]) }
    let pages = checkout.sorted { $0.key < $1.key }
    value = value.adding(
      "checkout",
      .object(pages.map { JSONValue.Member(name: $0.key, value: .string(RedactedURL.text($0.value.url))) }))
    if let returnPage { value = value.adding("return", returnPage.redacted) }
    if let swedbank { value = value.adding("swedbank", swedbank.redacted) }
    return value
  }
}

extension AppConfiguration.Links.IOS {
  fileprivate var redacted: JSONValue {
    var value: JSONValue = ["app_ids": .array(appIDs.map { .string($0.text) })]
    if let scheme { value = value.adding("scheme", .string(scheme.text)) }
    return value.adding("paths", .array(paths.map { .string($0.text) }))
      .adding("webcredentials", .bool(webcredentials))
  }
}

extension AppConfiguration.Links.Android.Package {
  fileprivate var redacted: JSONValue {
    [
      "name": .string(name.text),
      "sha256_cert_fingerprints": .array(fingerprints.map { .string($0.text) }),
    ]
  }
}

extension AppConfiguration.Links.ReturnPage {
  fileprivate var redacted: JSONValue {
    var value: JSONValue = ["name": .string(name)]
    if let iosStore { value = value.adding("ios_store", .string(RedactedURL.text(iosStore))) }
    if let androidStore { value = value.adding("android_store", .string(RedactedURL.text(androidStore))) }
    return value
  }
}

extension AppConfiguration.Links.Swedbank {
  fileprivate var redacted: JSONValue {
    var value: JSONValue = [:]
    if let schemes { value = value.adding("schemes", .array(schemes.map { .string($0.text) })) }
    if let packages { value = value.adding("packages", .array(packages.map { .string($0.text) })) }
    return value.adding("trampoline", .string(RedactedURL.text(trampoline)))
      .adding("redirect", .integer(Int64(redirect.rawValue)))
  }
}
