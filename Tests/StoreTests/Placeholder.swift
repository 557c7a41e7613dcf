enum StoreTestsPlaceholder {}
