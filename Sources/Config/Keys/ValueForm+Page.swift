// Forms of values of the return page: colours, its logo, and where customers get help. As
// ConfigurationReader: one thread, every fault.

internal import Formats
internal import Platform

extension ValueForm<PageColor> {
  /// A colour in which text can be read on the public pages.
  static func color(_ mode: PageMode) -> ValueForm {
    let expected = "a colour, such as \"#0b57b0\""
    return ValueForm(
      shape: ValueShape("a colour (\"#\" and six hexadecimal digits)", .pattern("^#[0-9A-Fa-f]{6}$")),
      read: { value, path, context in
        guard let text = context.text(value, path: path, mustBe: expected) else { return nil }
        guard let color = PageColor(text) else {
          context.collector.fault(path, "must be \(expected)")
          return nil
        }
        let (ratio, background) = mode.leastContrast(of: color)
        if ratio < PageMode.contrastMin {
          // Rounded down: 4.49 must not be shown as 4.5.
          let tenths = Int(ratio * 10)
          context.collector.fault(
            path,
            "has a contrast of \(tenths / 10).\(tenths % 10) to the page's background \(background.text), "
              + "and text needs \(PageMode.contrastMin) (WCAG 2.2, 1.4.3); "
              + "\(mode.readable(color).text) has that")
        }
        return color
      }, show: { .string($0.text) })
  }
}

extension ValueForm<String> {
  /// The address of a page that customers are led to.
  static var customerPage: ValueForm {
    let endpoint = ValueForm.endpoint(carriesSecret: false, bytesMax: ConfigurationLimits.storeURLBytesMax)
    var form = endpoint
    form.read = { value, path, context in
      guard let url = endpoint.read(value, path, context) else { return nil }
      if Link(https: url) == nil {
        context.collector.fault(path, "must begin with https:// and a host's name, and have no @ and no '")
      }
      return url
    }
    return form
  }
}

extension ValueForm<AppConfiguration.Links.Support> {
  static var support: ValueForm {
    let address = ValueForm<String>.mailAddress
    let page = ValueForm<String>.customerPage
    return ValueForm(
      shape: ValueShape(
        "an https URL or an e-mail address",
        .text(bytesMax: ConfigurationLimits.storeURLBytesMax).adding("pattern", "(^[Hh][Tt][Tt][Pp]|@)")),
      read: { value, path, context in
        if let text = value.stringValue, text.contains("@"), !text.contains("/") {
          return address.read(value, path, context).map { .address($0) }
        }
        return page.read(value, path, context).map { .page($0) }
      }, show: { .string($0.text) })
  }
}

extension ValueForm<AppConfiguration.Links.Logo> {
  /// The path of a picture, which the daemon reads when it starts and with each reload.
  static var logo: ValueForm {
    ValueForm(
      shape: ValueShape("the path of an SVG or PNG file", .text()),
      read: { value, path, context in
        context.filePath(value, path: path).flatMap { context.logo($0, path: path) }
      }, show: { .string($0.path) })
  }
}

extension ConfigurationReader {
  fileprivate func logo(_ file: String, path: String) -> AppConfiguration.Links.Logo? {
    // Only the daemon serves it.
    guard secrets.policy == .required else { return .init(path: file, format: .svg, bytes: []) }
    do {
      let bytes = try FileReading.content(of: file, bytesMax: ConfigurationLimits.logoBytesMax).bytes
      if let format = AppConfiguration.Links.Logo.Format(bytes) {
        return .init(path: file, format: format, bytes: bytes)
      }
      collector.fault(path, "is neither an SVG nor a PNG picture: \(file)")
    } catch {
      collector.fault(
        path,
        "cannot read \(file) (\(error.reason)); a picture of up to \(ConfigurationLimits.logoBytesMax) "
          + "bytes that the service's user may read is needed")
    }
    return nil
  }
}
