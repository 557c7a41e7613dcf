// The descriptors that this process has open. Any thread.

internal import Glibc

public enum OpenDescriptors {
  /// Their numbers, from proc(5); empty if they cannot be read. Other threads may open and close some
  /// meanwhile. The listing's own descriptor is among them.
  public static func numbers() -> [Int32] {
    guard let folder = unsafe opendir("/proc/self/fd") else { return [] }
    defer { unsafe closedir(folder) }
    var found: [Int32] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      if let number = Int32(String(decoding: name, as: UTF8.self)) { found.append(number) }
    }
    return found
  }
}
