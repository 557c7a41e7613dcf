// Counts formatted for people.

import Platform
import Testing

@Suite struct CountTextTests {
  @Test(arguments: [
    (0, "0"), (7, "7"), (999, "999"), (1000, "1,000"), (4678, "4,678"), (200_000, "200,000"),
    (1_234_567, "1,234,567"), (-1000, "-1,000"), (-999, "-999"), (Int.max, "9,223,372,036,854,775,807"),
    (Int.min, "-9,223,372,036,854,775,808"),
  ])
  func `Counts have digit grouping: 200000 is 200,000`(count: Int, text: String) {
    #expect(CountText.grouped(count) == text)
  }

  @Test func `The word is plural unless the count is one`() {
    #expect(CountText.of(1, "receipt") == "1 receipt")
    #expect(CountText.of(0, "receipt") == "0 receipts")
    #expect(CountText.of(4678, "receipt") == "4,678 receipts")
  }
}
