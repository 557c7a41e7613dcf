// All texts of the public pages, as a type: a language without one of them does not compile. The texts are
// constants; only the app's name is inserted. Pure; called from any thread.

internal import Formats

/// A text with a place for the app's name, such as `"Back to \(.app)"`.
struct AppPhrase: Sendable, ExpressibleByStringInterpolation {
  /// The placeholders.
  enum Place { case app }

  struct StringInterpolation: StringInterpolationProtocol {
    /// Nil for the app's name.
    fileprivate var pieces: [String?] = []

    init(literalCapacity: Int, interpolationCount: Int) {}
    mutating func appendLiteral(_ words: String) { pieces.append(words) }
    mutating func appendInterpolation(_ place: Place) { pieces.append(nil) }
  }

  private let pieces: [String?]

  init(stringLiteral words: String) { pieces = [words] }
  init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

  /// The text with the app's name. Not escaped.
  func text(app: String) -> String { pieces.map { $0 ?? app }.joined() }

  /// The same as markup. The name keeps its own direction (Unicode UAX #9), so it cannot move the words and
  /// marks around it.
  func html(app: String) -> HTML {
    HTML(pieces.map { piece in piece.map { HTML(text: $0) } ?? Tag.bdi { app } })
  }
}

/// The texts of the public pages in one language.
struct PageWords: Sendable {
  /// The outcome of a checkout as a heading, with an explanation.
  struct Message: Sendable {
    /// Also the page's title.
    var heading: AppPhrase
    var text: AppPhrase
  }

  // Links.
  /// The button of a page that has the app's name.
  var backTo: AppPhrase
  /// The button of a page without the app's name, and the heading of pages that only lead back.
  var backToApp: String
  /// The link for when the button does nothing.
  var otherWay: AppPhrase
  var iosStore: AppPhrase
  var androidStore: AppPhrase
  /// For pages without a link to the app.
  var canCloseAndGoBack: AppPhrase
  var canClose: String

  // Outcomes of a checkout.
  /// No event has arrived yet.
  var waiting: Message
  /// The same, for customers who came back through the cancel link.
  var noPaymentYet: Message
  /// The checkout is complete; the payment is pending.
  var underWay: Message
  /// Paid; not delivered to the app yet.
  var paid: Message
  /// Paid and delivered.
  var delivered: Message
  /// Paid, but the delivery failed: an operator resolves that.
  var undelivered: Message
  /// Ended without a payment.
  var unpaid: Message
  /// Cancelled by an operator, whether paid or not.
  var cancelled: Message
  /// Not paid in time.
  var expired: Message
  /// The checkout is unknown.
  var unknown: Message
  /// The state cannot be read at the moment.
  var unavailable: Message
  /// The note below a message that may change.
  var updatesItself: String
  /// The link that does it in a browser that does not run the page's script.
  var checkAgain: String

  // At a computer.
  var onPhone: AppPhrase
  /// How the code is used.
  var scanCode: AppPhrase
  /// What the code is, for readers who do not see it.
  var codeLabel: AppPhrase
  /// The link for those who have the app on this device.
  var onThisDevice: AppPhrase

  // Help, and what was bought.
  var support: String
  /// Before the number that the support needs.
  var reference: String
  var item: String
  var amount: String
  var date: String

  // The pages on the way back from Swedbank Pay.
  /// The title.
  var payment: String
  /// For pages that open the app automatically.
  var opensItself: String
  /// For pages that cannot.
  var goOnInApp: String
}

extension PageLanguage {
  var words: PageWords {
    switch self {
    case .en: .english
    case .de: .german
    case .fr: .french
    case .es: .spanish
    case .it: .italian
    case .pt: .portuguese
    case .nl: .dutch
    case .sv: .swedish
    case .nb: .norwegian
    case .da: .danish
    case .fi: .finnish
    case .ar: .arabic
    case .he: .hebrew
    case .ja: .japanese
    case .ko: .korean
    case .zhHans: .simplifiedChinese
    }
  }
}
