// Permutations. Pure.

/// Every order of the elements.
public func permutations<Element>(_ elements: [Element]) -> [[Element]] {
  guard let first = elements.first else { return [[]] }
  return permutations(Array(elements.dropFirst())).flatMap { rest in
    (0...rest.count).map { position in
      var order = rest
      order.insert(first, at: position)
      return order
    }
  }
}
