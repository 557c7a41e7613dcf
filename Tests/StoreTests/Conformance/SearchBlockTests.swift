// Tests the entries of the index of a search, and the numbers that stand for parts of ids.

import Domain
import Platform
import Testing

@testable import Store

@Suite("The entries of a search")
struct SearchBlockTests {
  @Test func `Blocks keep any sorted entries, in their order, and find the rows of a range of keys`() {
    var random = SeededGenerator(seed: 7)
    var entries = (0..<1000).map { _ in
      SearchEntry(
        key: Int64.random(in: 0...50, using: &random) << Int64.random(in: 0...56, using: &random),
        row: Int64.random(in: 0..<1 << 40, using: &random))
    }
    entries.sort()
    let blocks = SearchBlock.blocks(entries)
    #expect(blocks.flatMap(\.entries) == entries)
    #expect(
      blocks.map(\.first) == stride(from: 0, to: 1000, by: SearchBlock.entriesMax).map { entries[$0].key })
    for block in blocks { #expect(block.entries == block.entries.sorted()) }
    for key in Set(entries.map(\.key)) {
      var found: [Int64] = []
      for block in blocks { block.forEach(key...key) { found.append($0) } }
      #expect(found == entries.filter { $0.key == key }.map(\.row))
    }
    let rows = Set(entries.prefix(300).map(\.row))
    let rest = blocks.flatMap { ($0.without(rows) ?? $0).entries }
    #expect(rest == entries.filter { !rows.contains($0.row) })
    #expect(blocks.last.map { $0.without([]) } == .some(nil))
  }

  @Test("The numbers of a part include those of the ids that begin or end with it, and of few others")
  func numbers() throws {
    let hash = try AddressHash(key: Array(0..<32))
    func keys(_ ids: String...) -> Set<Int64> {
      var mentions = Mentions()
      for id in ids { mentions.add(id: id) }
      return SearchKey.keys(mentions, hash)
    }
    let id = "pi_3MtwBwLkdIwHu7ix28a3tqPa"
    for length in 6...24 {
      let part = IDText.core(id).prefix(length).description
      #expect(keys(id).contains { SearchKey.numbers(ofBeginning: "pi_\(part)").contains($0) }, "\(part)")
      #expect(keys(id).contains { SearchKey.numbers(ofEnd: String(id.suffix(length))).contains($0) })
    }
    for other in ["pi_3MtwBx", "pi_3Mtwb1", "3MtwBvzzzz", "u7ix28a3tqPb", "in_3Mtwcw"] {
      #expect(!keys(id).contains { SearchKey.numbers(ofBeginning: other).contains($0) }, "\(other)")
      #expect(!keys(id).contains { SearchKey.numbers(ofEnd: other).contains($0) }, "\(other)")
    }
    // A short id has a number for itself only.
    #expect(SearchKey.numbers(ofBeginning: "jdo-1").count == 1)
    #expect(keys("jdo-1").contains(SearchKey.numbers(ofBeginning: "jdo-1").lowerBound))
    #expect(!keys("jdo-12").contains(SearchKey.numbers(ofBeginning: "jdo-1").lowerBound))
  }

  @Test func `An address is a number only with the key of the database`() throws {
    let (hash, other) = try (AddressHash(key: Array(0..<32)), AddressHash(key: Array(1..<33)))
    var mentions = Mentions()
    mentions.add(address: "Ann@Example.com ")
    #expect(SearchKey.keys(mentions, hash) == [SearchKey.key(ofAddress: "ann@example.com", hash)])
    #expect(SearchKey.keys(mentions, hash) != SearchKey.keys(mentions, other))
    #expect(SearchKey.keys(mentions, hash).allSatisfy { $0 >= 2 << 60 })
  }
}
