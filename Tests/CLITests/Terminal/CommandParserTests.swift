import Testing

@testable import Terminal

@Suite struct CommandParserTests {
  typealias Samples = CommandSamples

  @Test func theSampleTablesHaveNoFlaw() {
    #expect(Samples.program.flaws.isEmpty)
    #expect(Samples.daemon.flaws.isEmpty)
  }

  @Test func aTableTellsItsFlaws() {
    let command = CommandSpec(
      ["a", "b"], summary: "",
      arguments: [ArgumentSpec("X", help: "", isRepeatable: true), ArgumentSpec("Y", help: "")],
      options: [OptionSpec(flag: "help", help: "")], examples: [])
    let program = ProgramSpec(
      name: "p", version: "1", summary: "", commands: [command, command], examples: [])
    for flaw in ["declared twice", "no example", "no group", "takes all", "an option twice"] {
      #expect(program.flaws.contains { $0.contains(flaw) })
    }
  }

  @Test(arguments: [
    "receipts list --state failed --config /c --limit 5",
    "--config /c receipts list --state failed --limit=5",
    "receipts --state=failed list -n 5 -c /c", "--state failed --limit 5 -c/c receipts list",
    "receipts list -n5 --config=/c --state failed",
  ])
  func optionsMayStandAnywhere(line: String) throws {
    let command = try Samples.run(line)
    #expect(command.path == ["receipts", "list"])
    #expect(command.options["state"] == "failed")
    #expect(command.options["config"] == "/c")
    #expect(try command.integer("limit", in: 1...10) == 5)
    #expect(command.positionals.isEmpty)
    #expect(!command.flag("json"))
  }

  @Test func aValueMayBeginWithWhatCombinesWithTheSignBeforeIt() throws {
    let command = try Samples.run("receipts list --app=\u{301}x")
    #expect(command.options["app"] == "\u{301}x")
  }

  @Test func positionalsAndFlagsMix() throws {
    let command = try Samples.run("receipts replay rcp_1 --yes rcp_2 -w --why later -- --rcp_3 -")
    #expect(command.positionals == ["rcp_1", "rcp_2", "--rcp_3", "-"])
    #expect(command.flag("yes"))
    #expect(command.flag("wait"))
    #expect(command.options["why"] == "later")
    let short = try Samples.run("-yw receipts replay")
    #expect(short.flag("yes"))
    #expect(short.flag("wait"))
  }

  @Test func anOptionHasTheMeaningOfItsCommand() throws {
    let replay = try Samples.run("--wait receipts replay rcp_1")
    #expect(replay.flag("wait"))
    #expect(replay.positionals == ["rcp_1"])
    let list = try Samples.run("--wait 5s events list")
    #expect(list.options["wait"] == "5s")
  }

  @Test func aRepeatableOptionKeepsEveryValue() throws {
    let command = try Samples.run("receipts list --app a --app=b")
    #expect(command.options.all("app") == ["a", "b"])
    #expect(command.options.all("state") == [])
  }

  @Test func aValueMayBeEmptyOrNegativeOrAHyphen() throws {
    #expect(try Samples.run("receipts replay --why=").options["why"] == "")
    #expect(try Samples.run("receipts replay --why=--yes").options["why"] == "--yes")
    #expect(try Samples.run("receipts replay --rate -5").options["rate"] == "-5")
    #expect(try Samples.run("receipts replay --why -").options["why"] == "-")
  }

  @Test func aProgramWithoutVerbsIsOneCommand() throws {
    let command = try Samples.run("--config /c --check", Samples.daemon)
    #expect(command.flag("check"))
    #expect(command.options["config"] == "/c")
    #expect(try Samples.run("", Samples.daemon).path == [])
    #expect(Samples.refusal("extra", Samples.daemon) == "'extra' is one argument too many for relayd")
    #expect(
      Samples.refusal("--chekc", Samples.daemon) == "there is no option --chekc here; did you mean --check?")
  }

  @Test(arguments: [
    ("receipts", "say what to do with receipts: list, replay, show"),
    ("recepts list", "there is no command 'recepts'; did you mean 'receipts'?"),
    ("receipts lsit", "there is no command 'receipts lsit'; did you mean 'receipts list'?"),
    ("receipts zzz", "there is no command 'receipts zzz'; there is list, replay, show"),
    ("zzzzzz", "there is no command 'zzzzzz'"),
    ("--jsno", "there is no option --jsno here; did you mean --json?"),
    ("receipts list --stat failed", "there is no option --stat here; did you mean --state?"),
    ("receipts list -z", "there is no option -z here"),
    ("receipts list --watch", "there is no option --watch here"),
    ("receipts list --state", "--state needs a value: --state STATE"),
    ("receipts list --state --json", "--state needs a value: --state STATE"),
    ("receipts list -n", "-n needs a value: -n N"),
    (
      "receipts list --state faled",
      "--state must be one of waiting, pending, delivered, failed, cancelled, not 'faled'"
        + "; did you mean 'failed'?"
    ),
    ("receipts list --limit 1 -n 2", "--limit is given twice"),
    ("receipts list --json=yes", "--json takes no value"),
    ("receipts list more", "'more' is one argument too many for receipts list"),
    ("receipts show", "receipts show needs ID: the receipt"),
    ("receipts show a b", "'b' is one argument too many for receipts show"),
    ("receipts show \u{1B}[31m b\u{7}", "'b\u{FFFD}' is one argument too many for receipts show"),
    ("help zzzzzz", "there is no command 'zzzzzz'"),
    ("help receipts shwo", "there is no command 'receipts shwo'; did you mean 'receipts show'?"),
  ])
  func aSlipIsNamedWithWhatToDo(line: String, message: String) { #expect(Samples.refusal(line) == message) }

  @Test func aRefusalSaysWhereHelpIs() {
    let error = #expect(throws: UsageError.self) { try Samples.parse("receipts show") }
    #expect(error?.description.hasSuffix("\nSee: relayctl receipts show --help") == true)
  }

  @Test func numbersAndTimesAreChecked() throws {
    let command = try Samples.run("receipts list --limit 0 --since yesterday")
    #expect(throws: UsageError.self) { try command.integer("limit", in: 1...10) }
    let error = #expect(throws: UsageError.self) { try command.time("since", now: 0) }
    #expect(error?.message.hasPrefix("--since must be a time such as") == true)
    let good = try Samples.run("receipts list --since 1s")
    #expect(try good.time("since", now: 5000) == 4000)
    #expect(try good.integer("limit", in: 1...10) == nil)
    let rate = try Samples.run("receipts replay --rate 2.5")
    #expect(try rate.number("rate", in: 0...10) == 2.5)
    #expect(try rate.ratePerSecond("rate", in: 0...10) == 2.5)
    #expect(try Samples.run("receipts replay --rate 20/s").ratePerSecond("rate", in: 1...100) == 20)
    #expect(throws: UsageError.self) {
      try Samples.run("receipts replay --rate 0/s").ratePerSecond("rate", in: 1...100)
    }
    #expect(throws: UsageError.self) { try rate.number("rate", in: 0...1) }
    #expect(throws: UsageError.self) {
      try Samples.run("receipts replay --rate nan").number("rate", in: 0...1)
    }
  }

  @Test(arguments: ["--version", "receipts --version", "receipts list --version"])
  func theVersionIsShownEverywhere(line: String) throws {
    #expect(try Samples.parse(line) == .show("relayctl 1.2.3 (3fbd2d21, 2026-11-27)\n"))
  }
}
