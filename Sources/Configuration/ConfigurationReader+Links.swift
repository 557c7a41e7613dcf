// Reads an app's `links` from the configuration. As ConfigurationReader: one thread, every fault.

internal import AppLinks
internal import JSON

extension ConfigurationReader {
  /// - Returns: nil without `links`, and after a fault that leaves no valid origin.
  func links(_ app: ObjectReader, slug: String) -> AppConfiguration.Links? {
    guard let value = app.value("links") else { return nil }
    let reader = ObjectReader(value, path: app.path(of: "links"), collector: collector)
    defer { reader.reportUnknownKeys() }
    let advice = "write the relay's public address, such as \"https://pay.example.com\""
    let origin = name(
      reader.required("origin", advice), path: reader.path(of: "origin"), mustBe: "an address, https://…",
      WebOrigin.init)
    let ios = reader.value("ios").flatMap { self.ios(subreader(reader, "ios", $0)) }
    let android = reader.value("android").flatMap { self.android(subreader(reader, "android", $0)) }
    let checkout = checkoutPages(reader.object("checkout"))
    let returnPage = reader.value("return").map {
      self.returnPage(subreader(reader, "return", $0), slug: slug)
    }
    let swedbank = reader.value("swedbank").map { self.swedbank(subreader(reader, "swedbank", $0)) }
    guard let origin else { return nil }
    if let swedbank, swedbank.trampoline.lowercased().hasPrefix("\(origin.text)/") {
      collector.warning(
        "\(reader.path(of: "swedbank")).trampoline",
        "is on the host of links.origin, from which iOS does not open the app; use another name of this relay"
      )
    }
    return AppConfiguration.Links(
      origin: origin, ios: ios, android: android, checkout: checkout, returnPage: returnPage,
      swedbank: swedbank)
  }

  private func subreader(_ reader: ObjectReader, _ key: String, _ value: JSONValue) -> ObjectReader {
    ObjectReader(value, path: reader.path(of: key), collector: collector)
  }

  /// A string that is parsed into its own type; nil after a fault.
  private func name<Name>(
    _ value: JSONValue?, path: String, mustBe expected: String, _ read: (String) throws(NameFault) -> Name
  ) -> Name? {
    guard
      let text = value.flatMap({
        ObjectReader(nil, path: path, collector: collector).text($0, path: path, mustBe: expected)
      })
    else { return nil }
    do throws(NameFault) {
      return try read(text)
    } catch {
      collector.fault(path, error.description)
      return nil
    }
  }

  /// A list of such strings without duplicates; nil if the key is missing, and after a fault of the list
  /// itself.
  private func names<Name: Hashable>(
    _ value: JSONValue?, path: String, count: ClosedRange<Int>, of what: String,
    _ read: (String) throws(NameFault) -> Name
  ) -> [Name]? {
    let reader = ObjectReader(nil, path: path, collector: collector)
    guard let entries = reader.list(value, path: path, count: count, of: what) else { return nil }
    var names: [Name] = []
    for (value, path) in entries {
      guard let name = name(value, path: path, mustBe: "a text", read) else { continue }
      if names.contains(name) { collector.fault(path, "is in the list already; take it out") }
      names.append(name)
    }
    return names
  }

  private func ios(_ reader: ObjectReader) -> AppConfiguration.Links.IOS? {
    defer { reader.reportUnknownKeys() }
    let advice = "write the ids of the app: [\"ABCDE12345.com.example.app\"]"
    let appIDs = names(
      reader.required("app_ids", advice), path: reader.path(of: "app_ids"),
      count: ConfigurationLimits.linkedApps, of: "app ids", AppleAppID.init)
    let scheme = name(
      reader.value("scheme"), path: reader.path(of: "scheme"), mustBe: "a scheme, such as \"exampleapp\"",
      CustomScheme.init)
    let paths = names(
      reader.value("paths"), path: reader.path(of: "paths"), count: ConfigurationLimits.linkedPaths,
      of: "paths", LinkPath.init)
    let webcredentials = reader.flag("webcredentials", default: false)
    guard let appIDs, !appIDs.isEmpty else { return nil }
    return AppConfiguration.Links.IOS(
      appIDs: appIDs, scheme: scheme, paths: paths ?? [], webcredentials: webcredentials)
  }

  private func android(_ reader: ObjectReader) -> AppConfiguration.Links.Android? {
    defer { reader.reportUnknownKeys() }
    let path = reader.path(of: "packages")
    let advice =
      "write the app's packages: [{ name: \"com.example.app\", sha256_cert_fingerprints: [\"AA:BB:…\"] }]"
    guard
      let entries = reader.list(
        reader.required("packages", advice), path: path, count: ConfigurationLimits.linkedApps, of: "packages"
      )
    else { return nil }
    let packages = entries.compactMap { value, path in
      package(ObjectReader(value, path: path, collector: collector))
    }
    for (index, package) in packages.enumerated()
    where packages[..<index].contains(where: { $0.name == package.name }) {
      collector.fault("\(path)[\(index)].name", "is in the list already; put all fingerprints there")
    }
    return packages.isEmpty ? nil : AppConfiguration.Links.Android(packages: packages)
  }

  private func package(_ reader: ObjectReader) -> AppConfiguration.Links.Android.Package? {
    defer { reader.reportUnknownKeys() }
    let name = name(
      reader.required("name", "write the app's package, such as \"com.example.app\""),
      path: reader.path(of: "name"), mustBe: "the name of a package", PackageName.init)
    let fingerprints = names(
      reader.required(
        "sha256_cert_fingerprints",
        "write the SHA-256 of the certificates that the app is signed with (keytool -list -v)"),
      path: reader.path(of: "sha256_cert_fingerprints"), count: ConfigurationLimits.fingerprints,
      of: "fingerprints", CertificateFingerprint.init)
    guard let name, let fingerprints, !fingerprints.isEmpty else { return nil }
    return .init(name: name, fingerprints: fingerprints)
  }

  private func checkoutPages(_ reader: ObjectReader) -> [String: CheckoutPage] {
    var pages: [String: CheckoutPage] = [:]
    if !ConfigurationLimits.checkoutPages.contains(reader.names.count) {
      let most = ConfigurationLimits.checkoutPages.upperBound
      collector.fault(reader.path, "may have \(most) pages, but has \(reader.names.count)")
    }
    for price in reader.names {
      let path = reader.path(of: price)
      guard let url = reader.text(reader.value(price), path: path, mustBe: "an address, https://…") else {
        continue
      }
      if price.isEmpty { collector.fault(path, "needs the price as its key, such as \"price_…\"") }
      if let fault = CheckoutPage.fault(in: url) { collector.fault(path, fault) }
      pages[price] = CheckoutPage(url: url)
    }
    return pages
  }

  private func returnPage(_ reader: ObjectReader, slug: String) -> AppConfiguration.Links.ReturnPage {
    defer { reader.reportUnknownKeys() }
    let name = reader.text(
      reader.value("name"), path: reader.path(of: "name"), mustBe: "the app's name, as people know it")
    if let name, name.utf8.count > ConfigurationLimits.appNameBytesMax {
      collector.fault(reader.path(of: "name"), "is longer than \(ConfigurationLimits.appNameBytesMax) bytes")
    }
    return .init(
      name: name ?? slug, iosStore: store(reader, "ios_store"), androidStore: store(reader, "android_store"))
  }

  private func store(_ reader: ObjectReader, _ key: String) -> String? {
    address(reader, key).flatMap { url in
      guard url.utf8.count <= ConfigurationLimits.storeURLBytesMax else {
        collector.fault(
          reader.path(of: key), "is longer than \(ConfigurationLimits.storeURLBytesMax) bytes")
        return nil
      }
      return url
    }
  }

  private func swedbank(_ reader: ObjectReader) -> AppConfiguration.Links.Swedbank {
    defer { reader.reportUnknownKeys() }
    var swedbank = AppConfiguration.Links.Swedbank()
    swedbank.schemes = names(
      reader.value("schemes"), path: reader.path(of: "schemes"), count: ConfigurationLimits.linkedApps,
      of: "schemes", CustomScheme.init)
    swedbank.packages = names(
      reader.value("packages"), path: reader.path(of: "packages"), count: ConfigurationLimits.linkedApps,
      of: "packages", PackageName.init)
    swedbank.trampoline = address(reader, "trampoline") ?? swedbank.trampoline
    if swedbank.trampoline.utf8.contains(UInt8(ascii: "?")) {
      collector.fault(reader.path(of: "trampoline"), "has a query (?…); take it out, each link gets its own")
    }
    switch reader.value("redirect") {
    case nil, .integer(301): swedbank.redirect = .permanent
    case .integer(302): swedbank.redirect = .found
    default: collector.fault(reader.path(of: "redirect"), "must be 301 or 302")
    }
    return swedbank
  }

  /// A web URL; nil if the key is missing, and after a fault.
  private func address(_ reader: ObjectReader, _ key: String) -> String? {
    let path = reader.path(of: key)
    guard let url = reader.text(reader.value(key), path: path, mustBe: "an address, https://…") else {
      return nil
    }
    guard let fault = EndpointURL.fault(in: url, carriesSecret: false) else { return url }
    collector.fault(path, fault)
    return nil
  }
}
