import Testing

@testable import Terminal

@Suite struct ExitCodeTests {
  @Test func theNumbersAreThoseOfTheContract() {
    #expect(ExitCode.allCases.map(\.rawValue) == [0, 1, 3, 64, 65, 66, 69, 74, 75, 77, 78])
  }
}
