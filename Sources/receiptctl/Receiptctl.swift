// receiptctl: the main function. The commands are in `Operator`. The main thread.

import CLI
import Glibc
import Platform
import Terminal

@main
struct Receiptctl {
  static func main() {
    StandardStream.occupyAll()
    Signals.ignoreWake()
    let dependencies = OperatorDependencies(output: .standard(program: OperatorProgram.name))
    exit(OperatorProgram.run(Array(CommandLine.arguments.dropFirst()), in: dependencies).rawValue)
  }
}
