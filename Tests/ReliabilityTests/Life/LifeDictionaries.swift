// The dictionaries of a relay's life: of texts like those that come in. One thread.

import Domain
import Platform
import Store

enum LifeDictionaries {
  /// At these steps a dictionary of each kind is stored; bodies before the first have none.
  private static let steps = [2, 9, 25]

  private static let contents: [BodyKind: [[UInt8]]] = [
    .event: steps.map { seed in
      dictionary((0..<400).map { "evt_\(seed)_\($0 % 5) \(String(repeating: "\($0 % 7)", count: 900))" })
    },
    .receipt: steps.map { seed in
      dictionary(
        (0..<400).map {
          "\"user \($0 % 60)\",\"sub_\($0 % 60)\",\"price_\(seed)\",\"blob \($0) "
            + String(repeating: "x", count: 700) + "\""
        })
    },
  ]

  private static func dictionary(_ texts: [String]) -> [UInt8] {
    do {
      return try DictionaryTraining.dictionary(
        from: Array(texts.joined().utf8), sizes: texts.map(\.utf8.count), bytesMax: 1024)
    } catch {
      fatalError("the texts of a relay's life make no dictionary: \(error)")
    }
  }

  /// The commands of a step.
  static func commands(at step: Int) -> [StoreDictionary] {
    guard let number = steps.firstIndex(of: step) else { return [] }
    return BodyKind.allCases.compactMap { kind in
      contents[kind].flatMap { $0.indices.contains(number) ? StoreDictionary($0[number], for: kind) : nil }
    }
  }

  /// Makes packers use the newest stored dictionaries.
  static func use(in packers: BodyPackers, _ reader: StoreReader) throws(StoreFault) {
    for kind in BodyKind.allCases {
      if let newest = try reader.newestDictionary(kind), newest.number != packers[kind].current?.number {
        packers[kind].use(newest)
      }
    }
  }
}
