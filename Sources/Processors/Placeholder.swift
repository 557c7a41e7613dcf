enum ProcessorsPlaceholder {}
