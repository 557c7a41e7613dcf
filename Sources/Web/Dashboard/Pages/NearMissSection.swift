// The contexts that a purchase did not get, on its receipt's page. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

enum NearMissSection {
  /// Nothing if there is none.
  static func html(_ detail: ReceiptDetail) -> HTML {
    let sentences = JoinText.nearMisses(detail)
    guard !sentences.isEmpty else { return HTML() }
    return Tag.section(.class("card"), .labelledBy("near-misses")) {
      Tag.h2(.id("near-misses")) { "Contexts that may have been meant" }
      // Nobody has to compare them for a receipt that was delivered.
      if detail.record.receipt?.state == .delivered {
        Tag.details {
          Tag.summary { PageParts.counted(Int64(sentences.count), "context") }
          list(detail, sentences)
        }
      } else {
        list(detail, sentences)
      }
    }
  }

  private static func list(_ detail: ReceiptDetail, _ sentences: [String]) -> HTML {
    Tag.ul(.class("rows")) {
      for (miss, sentence) in zip(detail.nearMisses, sentences) {
        Tag.li { NamedID.context(miss.contextID).html(in: "\(sentence).", Portal()) }
      }
    }
  }
}
