// Everything that the public pages say, as a type: a language that lacks one of its texts does not compile.
// The texts are this program's own; only the app's name is put into them. Pure; any thread.

/// A text with the app's name in it, wherever its language has it. `"Back to \(.app)"` is one.
struct AppPhrase: Sendable, ExpressibleByStringInterpolation {
  /// What stands in a phrase besides words.
  enum Place { case app }

  struct StringInterpolation: StringInterpolationProtocol {
    /// Nil is the app's name.
    fileprivate var pieces: [String?] = []

    init(literalCapacity: Int, interpolationCount: Int) {}
    mutating func appendLiteral(_ words: String) { pieces.append(words) }
    mutating func appendInterpolation(_ place: Place) { pieces.append(nil) }
  }

  private let pieces: [String?]

  init(stringLiteral words: String) { pieces = [words] }
  init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

  /// As a person reads it. Not escaped.
  func text(app: String) -> String { pieces.map { $0 ?? app }.joined() }
}

/// The words of the public pages in one language.
struct PageWords: Sendable {
  /// What became of something, in short, and what that means for whoever reads it.
  struct Message: Sendable {
    /// Also the page's title.
    var heading: AppPhrase
    var text: AppPhrase
  }

  // Ways on.
  /// The button of a page that knows the app's name.
  var backTo: AppPhrase
  /// The button of a page that does not, and the heading of those whose only purpose is to lead back.
  var backToApp: String
  /// The link beside the button, for when it did nothing.
  var otherWay: AppPhrase
  var iosStore: AppPhrase
  var androidStore: AppPhrase
  /// Where there is nothing to lead to.
  var canCloseAndGoBack: AppPhrase
  var canClose: String

  // What became of a checkout.
  /// Nothing has been heard of it yet.
  var waiting: Message
  /// The same, to somebody who says that they gave up.
  var noPaymentYet: Message
  /// It is complete, and the money is under way.
  var underWay: Message
  /// Paid; the app is still to be told.
  var paid: Message
  /// Paid, and told.
  var delivered: Message
  /// Paid, and not passed on to the app yet: an operator resolves that.
  var undelivered: Message
  /// It ended without a payment.
  var unpaid: Message
  /// By an operator, whether paid or not.
  var cancelled: Message
  /// Nobody paid in time.
  var expired: Message
  /// Which checkout it was about is not known.
  var unknown: Message
  /// It is not known for the moment.
  var unavailable: Message
  /// Behind a message that may change.
  var updatesItself: String

  // The pages on the way back from Swedbank Pay.
  /// Their title.
  var payment: String
  /// Where the app should open by itself.
  var opensItself: String
  /// Where it cannot.
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
    }
  }
}
