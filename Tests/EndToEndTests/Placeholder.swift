enum EndToEndTestsPlaceholder {}
