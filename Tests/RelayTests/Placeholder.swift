enum RelayTestsPlaceholder {}
