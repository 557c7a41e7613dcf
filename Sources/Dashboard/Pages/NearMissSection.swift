// The contexts that a purchase did not get, on its receipt's page. Pure; called from any thread.

internal import HTML
internal import Presentation
internal import Store

enum NearMissSection {
  /// Nothing if there is none.
  static func html(_ detail: ReceiptDetail) -> HTML {
    let sentences = JoinText.nearMisses(detail)
    guard !sentences.isEmpty else { return HTML() }
    return Tag.section(.class("card"), .labelledBy("near-misses")) {
      Tag.h2(.id("near-misses")) { "Contexts that may have been meant" }
      Tag.ul {
        for sentence in sentences { Tag.li { PageParts.untrusted("\(sentence).") } }
      }
    }
  }
}
