enum PlatformTestsPlaceholder {}
