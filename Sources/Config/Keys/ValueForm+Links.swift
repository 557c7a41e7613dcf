// Forms of values of an app's links: schemes, redirects, the file for Apple Pay, and pages by price. As
// ConfigurationReader: one thread, every fault.

internal import Domain
internal import Formats
internal import Platform

extension ValueForm<CustomScheme> {
  static var customScheme: ValueForm {
    .name(
      "a URL scheme", mustBe: "a scheme, such as \"exampleapp\"", pattern: "^[A-Za-z][A-Za-z0-9+.-]{0,62}$",
      show: \.text, CustomScheme.init)
  }
}

extension ValueForm<AppConfiguration.Links.Swedbank.Redirect> {
  static var redirect: ValueForm {
    ValueForm(
      shape: ValueShape("301 or 302", ["enum": [301, 302]]),
      read: { value, path, context in
        switch value {
        case .integer(301): return .permanent
        case .integer(302): return .found
        default:
          context.collector.fault(path, "must be 301 or 302")
          return nil
        }
      }, show: { .integer(Int64($0.rawValue)) })
  }
}

extension ValueForm<AppConfiguration.Links.DomainFile> {
  /// A file that anyone may read over HTTP.
  static var domainFile: ValueForm {
    ValueForm(
      shape: ValueShape("the path of a file", .text()),
      read: { value, path, context in context.domainFile(value, path: path) },
      show: { .string($0.path) })
  }
}

extension ConfigurationReader {
  fileprivate func domainFile(_ value: JSONValue, path: String) -> AppConfiguration.Links.DomainFile? {
    guard let file = filePath(value, path: path) else { return nil }
    do {
      let content = try FileReading.content(of: file, bytesMax: KeyRanges.domainFileBytesMax).bytes
      if content.isEmpty {
        collector.fault(path, "is empty (\(file)); download it again from Apple or your payment processor")
      } else if String(decoding: content, as: UTF8.self).contains("PRIVATE KEY-----") {
        collector.fault(path, "has a private key in it (\(file)), but it is public; name Apple's file")
      }
      return .init(path: file, content: content)
    } catch {
      // Only the daemon serves it.
      if secrets.policy == .required {
        collector.fault(
          path, "cannot read \(file) (\(error.reason)); create it, or let the service's user read it")
      }
      return .init(path: file, content: [])
    }
  }
}

extension ValueForm<[PriceID: CheckoutPage]> {
  /// Pages by price.
  static var checkoutPages: ValueForm {
    let range = KeyRanges.checkoutPages
    return ValueForm(
      shape: ValueShape(
        "an object of up to \(range.upperBound) https URLs, by price",
        [
          "type": "object", "propertyNames": ["minLength": 1],
          "maxProperties": .integer(Int64(range.upperBound)), "additionalProperties": .url(),
        ]),
      read: { value, path, context in
        let reader = ObjectReader(value, path: path, collector: context.collector)
        if !range.contains(reader.names.count) {
          let message = "may have \(range.upperBound) pages, but has \(reader.names.count)"
          context.collector.fault(path, message)
        }
        var pages: [PriceID: CheckoutPage] = [:]
        for price in reader.names {
          let path = reader.path(of: price)
          guard let value = reader.value(price),
            let url = context.text(value, path: path, mustBe: "an address, https://…")
          else { continue }
          if price.isEmpty {
            context.collector.fault(path, "needs the price as its key, such as \"price_…\"")
          }
          if let fault = CheckoutPage.fault(in: url) { context.collector.fault(path, fault) }
          pages[PriceID(price)] = CheckoutPage(url: url)
        }
        return pages
      },
      show: { pages in
        .object(
          pages.sorted { $0.key < $1.key }.map {
            JSONValue.Member(name: $0.key.text, value: .string(RedactedURL.text($0.value.url)))
          })
      })
  }
}
