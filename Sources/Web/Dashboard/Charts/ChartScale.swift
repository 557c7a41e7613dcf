// The scale of a chart. Pure; called from any thread.

/// A scale with the steps 1, 2, 5, 10, 20 and so on, which are equally far apart: nearly logarithmic, so that
/// 20 ms and 20 s are both readable.
struct ChartScale {
  /// At least two, ascending.
  let steps: [Double]

  /// - Parameter values: those to show, each greater than 0; others are at the lower end.
  init(covering values: [Double]) {
    let positive = values.filter { $0 > 0 && $0.isFinite }
    let (least, greatest) = (positive.min() ?? 1, positive.max() ?? 1)
    // No value is on the edge, where half of a line would be cut off.
    var step = Self.largestStep(notAbove: least * 0.99)
    var steps = [step]
    repeat {
      step = Self.next(after: step)
      steps.append(step)
    } while step <= greatest * 1.01
    self.steps = steps
  }

  /// The steps with a label, from above: at most five, and the highest one has one.
  var labelled: [Double] {
    let every = (steps.count + 4) / 5
    return stride(from: steps.count - 1, through: 0, by: -max(1, every)).map { steps[$0] }
  }

  /// Where a value is: 0 at the lower end, 1 at the upper one.
  func position(of value: Double) -> Double {
    guard let first = steps.first, let last = steps.last, value > first else { return 0 }
    guard value < last, let above = steps.firstIndex(where: { $0 > value }) else { return 1 }
    let (low, high) = (steps[above - 1], steps[above])
    return (Double(above - 1) + (value - low) / (high - low)) / Double(steps.count - 1)
  }

  private static func largestStep(notAbove value: Double) -> Double {
    var decade = 1.0
    while decade > value { decade /= 10 }
    while decade * 10 <= value { decade *= 10 }
    return decade * ([5, 2].first { decade * $0 <= value } ?? 1)
  }

  private static func next(after step: Double) -> Double {
    var decade = 1.0
    while decade > step * 1.01 { decade /= 10 }
    while decade * 10 <= step * 1.01 { decade *= 10 }
    let first = (step / decade).rounded()
    return decade * (first < 2 ? 2 : first < 5 ? 5 : 10)
  }
}

/// Numbers as charts write them.
enum DrawnNumber {
  /// One decimal is precise enough for drawing.
  static func text(_ number: Double) -> String {
    let tenths = Int64((number * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths.magnitude % 10)"
  }
}
