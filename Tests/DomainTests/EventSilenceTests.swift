// When a silence of an app's processor is unusual.

import Domain
import Formats
import Testing

@Suite struct EventSilenceTests {
  private static let soon: Duration = .minutes(20)
  private static let late: Duration = .hours(5)

  @Test(
    "A silence is unusual if events came then on three days, the same day of last week among them",
    arguments: [
      ([soon, soon, soon, soon, soon, soon, soon], 30, true),
      ([soon, soon, nil, nil, nil, nil, soon], 30, true),
      ([soon, nil, nil, nil, nil, nil, soon], 30, false),
      ([soon, soon, soon, soon, soon, soon, nil], 30, false),
      // The events come later: a short silence is usual, a long one is not.
      ([late, late, late, late, late, late, late], 30, false),
      ([late, late, late, late, late, late, late], 300, true),
      // The tenth event came after 20 minutes.
      ([soon, soon, soon, soon, soon, soon, soon], 19, false),
      // A new app, and one with few events.
      ([soon, soon, soon], 30, false), ([], 30, false), ([nil, nil, nil, nil, nil, nil, nil], 30, false),
      // Days of silence.
      ([soon, soon, soon, soon, soon, soon, soon], 14_400, true),
    ] as [([Duration?], Int64, Bool)])
  func cases(tenths: [Duration?], minutes: Int64, isUnusual: Bool) {
    #expect(EventSilence(tenths: tenths).isUnusual(after: .minutes(minutes)) == isUnusual)
  }
}
