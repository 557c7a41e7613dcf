enum TerminalTestsPlaceholder {}
