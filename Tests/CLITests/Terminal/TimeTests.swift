import Platform
import Testing

@Suite struct TimeTests {
  static let now: Int64 = 1_795_168_800_123

  @Test(
    arguments: [
      (0, "now"), (999, "now"), (-999, "now"), (3000, "3 s ago"), (59_999, "59 s ago"),
      (120_000, "2 min ago"),
      (14_400_000, "4 h ago"), (172_799_999, "47 h ago"), (259_200_000, "3 d ago"), (-300_000, "in 5 min"),
      (-1000, "in 1 s"), (-299_000, "in 5 min"), (-1001, "in 2 s"), (-86_400_000, "in 24 h"),
    ] as [(Int64, String)])
  func aTimeIsSaidFromNow(millisecondsAgo: Int64, text: String) {
    #expect(RelativeTime.text(of: Self.now - millisecondsAgo, now: Self.now) == text)
  }

  @Test(
    arguments: [
      (7200, "2 h"), (7199.999, "2 h"), (3600.001, "2 h"), (3600, "1 h"), (3540.001, "1 h"),
      (60.001, "2 min"), (60, "1 min"), (59.001, "1 min"), (59, "59 s"), (0.001, "1 s"), (0, "0 s"),
      (-5, "0 s"), (169_200, "47 h"), (169_200.001, "2 d"), (172_800.001, "3 d"),
    ] as [(Double, String)])
  func whatIsLeftIsNotLessThanItIs(seconds: Double, text: String) {
    #expect(RelativeTime.left(seconds: seconds) == text)
  }

  @Test func noTimeIsTooFarAway() {
    #expect(RelativeTime.text(of: .min, now: .max).hasSuffix(" d ago"))
    #expect(RelativeTime.text(of: .max, now: .min).hasPrefix("in "))
    #expect(RelativeTime.text(of: .min, now: 0).hasSuffix(" d ago"))
  }

  @Test(
    arguments: [
      ("2026-11-20T10:00:00Z", 1_795_168_800_000), ("2026-11-20T10:00:00.123Z", 1_795_168_800_123),
      ("2026-11-20T10:00:00.123456789Z", 1_795_168_800_123), ("2026-11-20T10:00:00.1Z", 1_795_168_800_100),
      ("2026-11-20t11:30:00+01:30", 1_795_168_800_000), ("2026-11-20 02:00:00-08:00", 1_795_168_800_000),
      ("2026-11-20", 1_795_132_800_000), ("1970-01-01", 0), ("2024-02-29T00:00:00Z", 1_709_164_800_000),
      ("2016-12-31T23:59:60Z", 1_483_228_799_000), ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
      ("30m", now - 1_800_000), ("2h", now - 7_200_000), ("3d", now - 259_200_000), ("0s", now),
    ] as [(String, Int64)])
  func sinceIsATimestampADateOrHowLongAgo(text: String, time: Int64) {
    #expect(MomentText.unixMilliseconds(parsing: text, now: Self.now) == time)
  }

  @Test(arguments: [
    "", "yesterday", "3", "3 d", "-3d", "2026-13-01", "2026-02-30", "2023-02-29", "2026-11-20T",
    "2026-11-20T24:00:00Z",
    "2026-11-20T10:60:00Z", "2026-11-20T10:00:00", "2026-11-20T10:00:00.Z", "2026-11-20T10:00:00+1",
    "2026-11-20T10:00:00Zx",
    "2026-1-1", "99999999d", "9999999999999999999d", "1969-12-31", "2026-11-20T10:00:00+24:00", "２026-11-20",
  ])
  func anotherTimeIsRefused(text: String) {
    #expect(MomentText.unixMilliseconds(parsing: text, now: Self.now) == nil)
  }
}
