// Colours, and whether text in them can be read (WCAG 2.2, 1.4.3). Pure; thread-safe.

/// An opaque colour of sRGB.
public struct PageColor: Sendable, Equatable {
  let red: UInt8
  let green: UInt8
  let blue: UInt8

  /// - Returns: nil unless the text is `#` and six hexadecimal digits.
  public init?(_ text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 7, digits[0] == UInt8(ascii: "#"),
      digits.dropFirst().allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
      let value = UInt32(text.dropFirst(), radix: 16)
    else { return nil }
    red = UInt8(value >> 16)
    green = UInt8(value >> 8 & 0xFF)
    blue = UInt8(value & 0xFF)
  }

  fileprivate init(red: UInt8, green: UInt8, blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  static let white = PageColor(red: 0xFF, green: 0xFF, blue: 0xFF)
  static let black = PageColor(red: 0, green: 0, blue: 0)

  /// `#` and six hexadecimal digits in lower case.
  public var text: String {
    "#"
      + [red, green, blue].map { byte in
        let digits = String(byte, radix: 16)
        return digits.utf8.count == 1 ? "0\(digits)" : digits
      }.joined()
  }

  /// The ratio of the colours' luminances, from 1 to 21 (WCAG 2.2, contrast ratio).
  public func contrast(to other: PageColor) -> Double {
    let (one, two) = (luminance, other.luminance)
    return (max(one, two) + 0.05) / (min(one, two) + 0.05)
  }

  /// From 0 to 1 (WCAG 2.2, relative luminance).
  private var luminance: Double {
    let linear = [red, green, blue].map { byte -> Double in
      let share = Double(byte) / 255
      return share <= 0.04045 ? share / 12.92 : Self.power2point4((share + 0.055) / 1.055)
    }
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
  }

  /// A number from 0.05 to 1 to the power of 2.4: its square, times the fifth root of its square (by Newton's
  /// method). The standard library has no powers, and C's are not worth an import of the system here.
  private static func power2point4(_ base: Double) -> Double {
    let square = base * base
    var root = 1.0
    for _ in 0..<20 { root -= (root - square / (root * root * root * root)) / 5 }
    return square * root
  }

  /// The colour with a share of another one, from 0 to 1.
  func mixed(with other: PageColor, _ share: Double) -> PageColor {
    func mix(_ one: UInt8, _ two: UInt8) -> UInt8 {
      UInt8((Double(one) * (1 - share) + Double(two) * share).rounded())
    }
    return PageColor(red: mix(red, other.red), green: mix(green, other.green), blue: mix(blue, other.blue))
  }
}

/// The appearance of a page that the reader's system chooses.
public enum PageMode: Sendable, CaseIterable {
  case light, dark

  /// The smallest contrast of text to its background (WCAG 2.2, 1.4.3, level AA).
  public static let contrastMin = 4.5

  /// The backgrounds of text on the public pages: the page, and its card on wide screens.
  public var backgrounds: [PageColor] {
    switch self {
    case .light: [PageColor(red: 0xF3, green: 0xF4, blue: 0xF7), .white]
    case .dark:
      [PageColor(red: 0x0D, green: 0x10, blue: 0x15), PageColor(red: 0x17, green: 0x1B, blue: 0x22)]
    }
  }

  /// The text on a button in the accent colour.
  var onAccent: PageColor {
    self == .light ? .white : PageColor(red: 0x0A, green: 0x15, blue: 0x26)
  }

  /// The smallest contrast of a text in this colour, and the background that it has it to.
  public func leastContrast(of color: PageColor) -> (ratio: Double, background: PageColor) {
    backgrounds.map { (color.contrast(to: $0), $0) }.min { $0.0 < $1.0 } ?? (1, color)
  }

  /// The colour itself if its contrast is enough, else the nearest darker (lighter in dark mode) one.
  public func readable(_ color: PageColor) -> PageColor {
    let end = self == .light ? PageColor.black : .white
    for step in 0...100 {
      let mixed = color.mixed(with: end, Double(step) / 100)
      if leastContrast(of: mixed).ratio >= Self.contrastMin { return mixed }
    }
    return end
  }
}

/// The colour of the links and buttons of a page, for both appearances.
public struct PageAccent: Sendable, Equatable {
  public var light: PageColor
  public var dark: PageColor

  public init(light: PageColor, dark: PageColor) {
    self.light = light
    self.dark = dark
  }

  /// The rules that set the colours. A colour consists of hexadecimal digits, so nothing else can be in them.
  public var stylesheet: String {
    ":root{\(Self.rules(light, .light))}"
      + "@media (prefers-color-scheme:dark){:root{\(Self.rules(dark, .dark))}}"
  }

  private static func rules(_ color: PageColor, _ mode: PageMode) -> String {
    "--link:\(color.text);--wait:\(color.text);--on-link:\(mode.onAccent.text)"
  }
}
