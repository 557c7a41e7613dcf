enum SandboxTestsPlaceholder {}
