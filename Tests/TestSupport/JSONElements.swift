// Elements of JSON lists, for tests.

public import Formats

extension JSONValue {
  /// An element of a list; nil for any other value, or if the list is shorter.
  public subscript(index: Int) -> JSONValue? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }
}
