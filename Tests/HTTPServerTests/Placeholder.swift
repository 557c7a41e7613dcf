enum HTTPServerTestsPlaceholder {}
