// `receiptctl config`: creates a first configuration, checks it, and shows what is in force.

internal import Service
internal import Config
internal import Formats
internal import Platform
internal import Terminal

enum ConfigurationCommands {
  static let spec = CommandGroup("config", summary: "The configuration file")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["config", "init"], summary: "Write a starter file with every key explained",
        discussion: """
          The default of PATH is that of --config, so that every command finds the file; - prints it. Only \
          the owner can read the file, and an existing file is never overwritten.
          """,
        arguments: [ArgumentSpec("PATH", help: "where to write it; - for stdout", isRequired: false)],
        examples: [
          ExampleSpec("receiptctl config init", "At the first installation"),
          ExampleSpec("receiptctl config init - | less", "Read about every key"),
        ]), run: initialise),
    Verb(
      spec: CommandSpec(
        ["config", "check"], summary: "Find every fault of the configuration, as receiptd --check does",
        discussion: """
          Needs to read the secrets, so run it as the user that receiptd runs as. Ends with 78 when there is \
          a fault.
          """,
        examples: [ExampleSpec("receiptctl config check", "Before reloading receiptd")]), run: check),
    Verb(
      spec: CommandSpec(
        ["config", "show"],
        summary: "Show the configuration with every default, secrets by their source only",
        examples: [
          ExampleSpec("receiptctl config show", "The configuration that the next reload applies"),
          ExampleSpec("receiptctl config show --json | jq .apps.ios.delivery", "A part of it"),
        ]), run: show),
    Verb(
      spec: CommandSpec(
        ["config", "schema"], summary: "Print the JSON Schema of the configuration, for editors",
        discussion: """
          An editor that knows the schema completes keys, shows what they are for, and marks what is wrong. \
          Name its file in the configuration: "$schema": "./receiptd.schema.json". receiptctl config check \
          finds more faults, such as secrets that cannot be read.
          """,
        examples: [
          ExampleSpec(
            "receiptctl config schema | sudo tee /etc/receiptd/receiptd.schema.json",
            "Beside the configuration")
        ]), run: schema),
  ]

  private static func initialise(_ session: Session) throws -> ExitCode {
    let path = session.command.positionals.first ?? session.configurationPath
    if path == "-" {
      session.output.text(ConfigurationTemplate.text)
      return .done
    }
    let shown = DisplayText.clean(path)
    do throws(SystemError) {
      try FileWriting.create(path, Array(ConfigurationTemplate.text.utf8), mode: 0o600)
    } catch {
      if error.isExistingFile {
        throw OperatorFault(
          .refused, "\(shown) exists; it is not overwritten. Name another file, or - to print it")
      }
      if error.isMissingFile {
        let folder = DisplayText.clean(FileWriting.folder(of: path))
        throw OperatorFault(
          .notFound, "there is no folder \(folder); create it first: mkdir -p \(ShellWord.quoted(folder))")
      }
      throw OperatorFault(.refused, "cannot write \(shown) (\(error.reason)); name a file that you may write")
    }
    if session.isJSON {
      session.output.json(["file": .string(path)])
    } else {
      session.output.line("Wrote \(shown), readable by you only.")
    }
    session.output.note(
      "Next: set its values, give it to receiptd's user (chown), then: receiptctl config check --config "
        + ShellWord.quoted(path))
    return .done
  }

  private static func check(_ session: Session) throws -> ExitCode {
    let path = session.configurationPath
    let output = session.output
    do throws(ConfigurationFaults) {
      let loaded = try ConfigurationLoader.load(
        path: path, environment: session.dependencies.environment, secrets: .required)
      let warnings = loaded.warnings + loaded.configuration.databaseWarnings
      for warning in warnings { output.note("warning: \(warning.description)") }
      if session.isJSON {
        output.json(json(path, faults: [], warnings: warnings))
      } else {
        output.line("\(DisplayText.clean(path)): ok")
      }
      return .done
    } catch {
      for warning in error.warnings { output.note("warning: \(warning.description)") }
      for fault in error.faults { output.error(fault.description) }
      if session.isJSON { output.json(json(path, faults: error.faults, warnings: error.warnings)) }
      return .configuration
    }
  }

  private static func json(_ path: String, faults: [Fault], warnings: [Fault]) -> JSONValue {
    func list(_ faults: [Fault]) -> JSONValue {
      .array(faults.map { ["key": .string($0.path), "message": .string($0.message)] })
    }
    return [
      "file": .string(path), "ok": .bool(faults.isEmpty), "faults": list(faults), "warnings": list(warnings),
    ]
  }

  private static func show(_ session: Session) throws -> ExitCode {
    let redacted = try session.wholeConfiguration().redacted
    session.output.line(session.isJSON ? redacted.text : redacted.prettyText)
    return .done
  }

  private static func schema(_ session: Session) throws -> ExitCode {
    let schema = ConfigurationSchema.value
    session.output.line(session.isJSON ? schema.text : schema.prettyText)
    return .done
  }
}
