enum HTTPClientTestsPlaceholder {}
