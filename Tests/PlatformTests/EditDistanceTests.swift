import Platform
import Testing

@Suite struct EditDistanceTests {
  @Test(arguments: [
    ("", "", 0), ("abc", "", 3), ("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "ab", 1),
    ("abc", "xbc", 1),
    ("kitten", "sitting", 3), ("purchaseley", "purchasely", 1),
  ])
  func theDistanceCountsSlips(left: String, right: String, distance: Int) {
    #expect(EditDistance.between(left, right) == distance)
    #expect(EditDistance.between(right, left) == distance)
  }

  @Test(
    arguments: [
      ("lsit", "list"), ("LIST", "list"), ("rep", "replay"), ("shwo", "show"), ("zzz", nil), ("", nil),
      ("l", nil),
      (String(repeating: "list", count: 20), nil),
    ] as [(String, String?)])
  func theNearestWordIsSuggestedWhenItIsNear(word: String, nearest: String?) {
    #expect(EditDistance.nearest(to: word, among: ["list", "show", "replay"]) == nearest)
  }
}
