enum RelayPlaceholder {}
