enum DestinationsPlaceholder {}
