enum SQLiteTestsPlaceholder {}
