// The program that libFuzzer drives: `FUZZ_TARGET` names the target. It exists only in a build with FUZZ=1
// (`make fuzz`), where libFuzzer provides the main function. One thread.

import Glibc

/// The target of this process.
private let target: FuzzTarget = {
  let name = unsafe getenv("FUZZ_TARGET").flatMap { unsafe String(validatingCString: $0) } ?? ""
  guard let target = FuzzTarget.named(name) else {
    print("FUZZ_TARGET must be one of \(FuzzTarget.all.map(\.name).joined(separator: " "))")
    exit(64)
  }
  return target
}()

/// One execution (https://llvm.org/docs/LibFuzzer.html#fuzz-target). A finding traps, which libFuzzer
/// detects.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: min(count, target.bytesMax)))
  do {
    try target.check(bytes)
  } catch {
    fatalError("\(target.name): \(error)")
  }
  return 0
}
