// The texts of the public pages: one file per language in `Languages`, compiled into the program. Only the
// app's name is inserted, for `{app}`. Pure; called from any thread.

internal import Formats

/// The texts of the public pages in one language. A text that the language lacks is shown in English.
struct PageWords: Sendable {
  /// The name of a text in the files.
  enum Key: String, CaseIterable {
    // Links.
    /// The button of a page that has the app's name.
    case backTo
    /// The button of a page without the app's name, and the heading of pages that only lead back.
    case backToApp
    /// The link for when the button does nothing.
    case otherWay
    case iosStore, androidStore
    /// For pages without a link to the app.
    case canCloseAndGoBack
    /// The note below a message that may change, and the link that updates the page in a browser that does
    /// not run its script.
    case updatesItself, checkAgain

    // At a computer.
    case onPhone
    /// How the code is used.
    case scanCode
    /// What the code is, for readers who do not see it.
    case codeLabel
    /// The link for those who have the app on this device.
    case onThisDevice

    // Help, and what was bought.
    case support
    /// Before the number that the support needs.
    case reference
    case item, amount, date

    // Claims of purchases that are in no account yet.
    /// The page of a claim's link.
    case claimHeading, claimText
    /// The same if the link is unknown, was used or has expired.
    case claimGoneHeading, claimGoneText
    /// The offer on the return page, and its button.
    case claimOffer, claimButton

    // The pages on the way back from Swedbank Pay.
    /// The title.
    case payment
    /// For pages that open the app automatically, and for pages that cannot.
    case opensItself, goOnInApp
  }

  /// The outcome of a checkout, with an explanation. The files name them `paid.heading` and `paid.text`.
  struct Message {
    /// Also the page's title.
    var heading: AppPhrase
    var text: AppPhrase
  }

  static let english = PageWords(PackageResources.en_json)
  static let all = Dictionary(uniqueKeysWithValues: PageLanguage.allCases.map { ($0, PageWords($0.file)) })

  /// The texts by their names. The tests check that every file has each of them.
  let phrases: [String: AppPhrase]

  /// - Parameter file: a JSON object of texts.
  init(_ file: [UInt8]) {
    guard case .object(let members)? = try? JSONValue(parsing: file) else {
      phrases = [:]
      return
    }
    phrases = members.reduce(into: [:]) { $0[$1.name] = $1.value.stringValue.map(AppPhrase.init) }
  }

  subscript(key: Key) -> AppPhrase { self[key.rawValue] }

  subscript(outcome: ReturnOutcome) -> Message { message(outcome.rawValue) }

  subscript(success: ReturnOutcome.Success) -> Message { message(success.rawValue) }

  subscript(back: ReturnOutcome.Back) -> Message { message(back.rawValue) }

  private func message(_ name: String) -> Message {
    Message(heading: self["\(name).heading"], text: self["\(name).text"])
  }

  private subscript(name: String) -> AppPhrase {
    phrases[name] ?? Self.english.phrases[name] ?? AppPhrase(name)
  }
}

/// A text with a place for the app's name, such as `Back to {app}`.
struct AppPhrase: Sendable {
  /// The text around the places.
  private let pieces: [String]

  init(_ text: String) {
    pieces = text.split(separator: "{app}", omittingEmptySubsequences: false).map(String.init)
  }

  var hasPlace: Bool { pieces.count > 1 }

  /// The text of a phrase without a place.
  var text: String { pieces.joined() }

  /// The text with the app's name. Not escaped.
  func text(app: String) -> String { pieces.joined(separator: app) }

  /// The same as markup. The name keeps its own direction (Unicode UAX #9), so it cannot move the words and
  /// marks around it.
  func html(app: String) -> HTML {
    pieces.dropFirst().reduce(HTML(text: pieces.first ?? "")) { $0 + Tag.bdi { app } + HTML(text: $1) }
  }
}

extension PageLanguage {
  var words: PageWords { PageWords.all[self] ?? PageWords.english }

  fileprivate var file: [UInt8] {
    switch self {
    case .en: PackageResources.en_json
    case .de: PackageResources.de_json
    case .fr: PackageResources.fr_json
    case .es: PackageResources.es_json
    case .it: PackageResources.it_json
    case .pt: PackageResources.pt_json
    case .nl: PackageResources.nl_json
    case .sv: PackageResources.sv_json
    case .nb: PackageResources.nb_json
    case .da: PackageResources.da_json
    case .fi: PackageResources.fi_json
    case .ar: PackageResources.ar_json
    case .he: PackageResources.he_json
    case .ja: PackageResources.ja_json
    case .ko: PackageResources.ko_json
    case .zhHans: PackageResources.zh_Hans_json
    }
  }
}
