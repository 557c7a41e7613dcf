enum DestinationsTestsPlaceholder {}
