enum ProcessorsTestsPlaceholder {}
